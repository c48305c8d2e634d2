from mezzotint.batch.job.text import line_in_json, line_in_toml

TOML = '''version = 1
# [settings] steps = 1
[prompts]
list = ["""
steps = 9
[settings]
""", 'x = 1']
[settings]  # here
size = "1x1"
"steps" = 3
'''


def test_a_name_in_its_table_and_not_in_texts_or_comments():
    assert line_in_toml(TOML, ("settings", "steps")) == 10
    assert line_in_toml(TOML, ("settings", "size")) == 9
    assert line_in_toml(TOML, ("prompts", "list")) == 4
    assert line_in_toml(TOML, ("version",)) == 1


def test_a_name_that_is_not_there_is_told_by_its_table_and_nothing_by_nothing():
    assert line_in_toml(TOML, ("settings", "guidance")) == 8
    assert line_in_toml(TOML, ("output", "name")) is None


def test_a_dotted_name():
    assert line_in_toml("version = 1\nsettings.steps = 4\n", ("settings", "steps")) == 2


def test_json_looks_after_the_names_before():
    text = '{\n"prompts": {"steps": 1},\n"settings": {\n "steps": 2}}'
    assert line_in_json(text, ("settings", "steps")) == 4
    assert line_in_json(text, ("settings", "size")) is None


def test_a_long_line_of_quotes_takes_no_time():
    assert line_in_toml('"' * 200_000, ("settings", "steps")) is None
    assert line_in_toml("[" * 100_000, ("settings", "steps")) is None
