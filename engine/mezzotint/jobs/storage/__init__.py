"""The queue's database: opening, migrations, backups, rebuilding."""
