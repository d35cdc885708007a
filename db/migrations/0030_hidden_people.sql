ALTER INDEX "users_withheld_idx" RENAME TO "users_hidden_idx";
