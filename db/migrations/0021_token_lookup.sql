-- Tokens and accounts are read for every request: nobody listens for their changes any more.
DROP TRIGGER users_tell ON users;
--> statement-breakpoint
DROP TRIGGER access_tokens_tell ON access_tokens;
--> statement-breakpoint
DROP TRIGGER access_token_repositories_tell ON access_token_repositories;
--> statement-breakpoint
DROP FUNCTION tell_account_change();
--> statement-breakpoint
DROP FUNCTION tell_token_change();
--> statement-breakpoint
DROP FUNCTION tell_token_reach_change();
