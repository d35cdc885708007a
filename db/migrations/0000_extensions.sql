-- Search by parts of words: the indexes of the lists that have a search box.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
