-- The currency that new prices of an account begin with; null until an owner chooses one.
ALTER TABLE accounts ADD COLUMN currency TEXT CHECK (length(currency) = 3);
