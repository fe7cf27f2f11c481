-- The orders of a pet are read from orders_by_pet_complete, in two walks (decision 0081). A new order wrote a page of each index of pets, because orders come
-- for pets in no order. PostgreSQL keeps this index until no node of release 1.1.0 can run beside newer ones.
DROP INDEX orders_by_pet;
