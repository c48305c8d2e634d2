"""The queue's database: opened, migrated, backed up, rebuilt."""
