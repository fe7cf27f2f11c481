# The values of one machine, which fill the other files of this folder: docs/high-availability.md. Only the first two lines differ between machines.
# Passwords have letters and digits alone, as those of openssl rand -hex 24: they are also in URLs, in SQL and in the commands below.
s/THIS_NAME/petstore-1/g
s/THIS_ADDRESS/192.0.2.1/g
s/ADDRESS_1/192.0.2.1/g
s/ADDRESS_2/192.0.2.2/g
s/ADDRESS_3/192.0.2.3/g
s|NETWORK|192.0.2.0/24|g
s/SUPERUSER_PASSWORD/choose-1/g
s/REPLICATION_PASSWORD/choose-2/g
s/DATABASE_PASSWORD/choose-3/g
s/REDIS_PASSWORD/choose-4/g
s|NODES_SECRET|the same on all machines, of openssl rand -base64 32|g
s|PUBLIC_ADDRESS|https://pets.example.com|g
