"""The tables of the queue, and the migrations between its versions."""

from collections.abc import Sequence

APPLICATION_ID = 0x4D5A_5451  # "MZTQ"

# The database itself maintains the counts and state of an entry, so that no list ever has to count tasks.
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    position REAL NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    created REAL NOT NULL,
    started REAL,
    finished REAL,
    error TEXT,
    first_image TEXT,
    pictures INTEGER NOT NULL DEFAULT 0,
    pictures_asked INTEGER NOT NULL DEFAULT 0,
    tasks INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    set_aside INTEGER NOT NULL DEFAULT 0,
    interrupted INTEGER NOT NULL DEFAULT 0,
    state TEXT GENERATED ALWAYS AS (CASE
        WHEN running > 0 THEN 'running' WHEN waiting > 0 THEN 'waiting' WHEN interrupted > 0 THEN 'interrupted'
        WHEN set_aside > 0 THEN 'set_aside' WHEN failed > 0 THEN 'failed' WHEN cancelled > 0 THEN 'cancelled'
        ELSE 'done' END) VIRTUAL
);
CREATE INDEX entries_order ON entries (position, id);
CREATE INDEX entries_state ON entries (state, position, id);
CREATE INDEX entries_waiting ON entries (position, id) WHERE waiting > 0;

-- Apart, so that lists never read them: a prompt may have a million characters.
CREATE TABLE requests (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    request TEXT NOT NULL
);

CREATE TABLE run_keys (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    quantization TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    device TEXT NOT NULL,
    UNIQUE (model, quantization, device, width, height)
);
CREATE TABLE timings (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL REFERENCES run_keys (id),
    load REAL NOT NULL,
    encode REAL NOT NULL,
    step REAL NOT NULL,
    decode REAL NOT NULL,
    save REAL NOT NULL,
    steps INTEGER NOT NULL
);
CREATE INDEX timings_key ON timings (key, id);

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    changes TEXT NOT NULL,
    seed INTEGER NOT NULL,
    drawn INTEGER NOT NULL,
    count INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    key INTEGER NOT NULL REFERENCES run_keys (id),
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    claimed REAL,
    left_after INTEGER NOT NULL DEFAULT 0,
    cancel INTEGER NOT NULL DEFAULT 0,
    error_kind TEXT,
    error TEXT,
    seconds REAL,
    UNIQUE (entry, number)
);
CREATE INDEX tasks_state ON tasks (state, entry, number);
CREATE INDEX tasks_error ON tasks (entry, number) WHERE error IS NOT NULL;

CREATE TABLE images (
    task INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    path TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (task, number)
) WITHOUT ROWID;
CREATE INDEX images_path ON images (path);

CREATE TRIGGER task_added AFTER INSERT ON tasks BEGIN
    UPDATE entries SET
        tasks = tasks + 1,
        pictures_asked = pictures_asked + NEW.count,
        waiting = waiting + (NEW.state = 'waiting'),
        running = running + (NEW.state = 'running'),
        done = done + (NEW.state = 'done'),
        failed = failed + (NEW.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled'),
        set_aside = set_aside + (NEW.state = 'set_aside'),
        interrupted = interrupted + (NEW.state = 'interrupted')
    WHERE id = NEW.entry;
END;
CREATE TRIGGER task_moved_on AFTER UPDATE OF state ON tasks WHEN NEW.state <> OLD.state BEGIN
    UPDATE entries SET
        waiting = waiting + (NEW.state = 'waiting') - (OLD.state = 'waiting'),
        running = running + (NEW.state = 'running') - (OLD.state = 'running'),
        done = done + (NEW.state = 'done') - (OLD.state = 'done'),
        failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled') - (OLD.state = 'cancelled'),
        set_aside = set_aside + (NEW.state = 'set_aside') - (OLD.state = 'set_aside'),
        interrupted = interrupted + (NEW.state = 'interrupted') - (OLD.state = 'interrupted')
    WHERE id = NEW.entry;
END;
CREATE TRIGGER image_added AFTER INSERT ON images BEGIN
    UPDATE entries SET pictures = pictures + 1, first_image = coalesce(first_image, NEW.path)
    WHERE id = (SELECT entry FROM tasks WHERE id = NEW.task);
END;
"""

# Images of tasks that the user has skipped.
_SKIPPED_IMAGES = """
CREATE TABLE skipped (
    task INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    PRIMARY KEY (task, number)
) WITHOUT ROWID;
"""

MIGRATIONS: Sequence[str] = (
    _TABLES,
    _SKIPPED_IMAGES,
)  # each migrates to the next version, beginning with an empty database
