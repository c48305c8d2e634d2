"""Words and phrases for each attribute of a scene, the plainest first."""

import random

KIND_WORDS: dict[str, tuple[str, ...]] = {
    "house": ("house", "house", "house", "cottage", "cabin", "home"),
    "boat": ("boat", "boat", "boat", "sailboat", "ship", "sailing boat"),
    "tree": ("tree", "tree", "tree", "round tree", "old tree"),
    "lighthouse": ("lighthouse", "lighthouse", "light house", "beacon"),
    "balloon": ("balloon", "balloon", "hot air balloon", "hot-air balloon", "air balloon"),
    "car": ("car", "car", "car", "automobile", "motor car"),
    "tent": ("tent", "tent", "tent", "camping tent"),
    "castle": ("castle", "castle", "castle", "fortress", "palace"),
}

COLOUR_WORDS: dict[str, tuple[str, ...]] = {
    "red": ("crimson", "scarlet"),
    "yellow": ("golden",),
    "green": ("emerald",),
    "blue": ("azure",),
    "purple": ("violet",),
    "pink": ("rose",),
    "brown": ("chestnut",),
    "black": ("jet black",),
}

PLACE_PHRASES: dict[str, tuple[str, ...]] = {
    "left": ("on the left", "on the left", "to the left", "at the left", "on the left side", "left"),
    "right": ("on the right", "on the right", "to the right", "at the right", "on the right side", "right"),
    "near": ("up close", "in the middle", "in the foreground", "close up", "in the centre", "near", "nearby"),
    "far": ("in the distance", "far away", "in the distance", "on the horizon", "in the background", "far off"),
}

SIZE_WORDS: dict[str, tuple[str, ...]] = {
    "near": ("big", "large", "huge"),
    "far": ("small", "tiny", "distant"),
}

TERRAIN_PHRASES: dict[str, tuple[str, ...]] = {
    "sea": ("by the sea", "at sea", "in the sea", "by the ocean", "on the coast", "on the water", "at the beach"),
    "meadow": ("in a meadow", "in the meadow", "in a field", "on the green hills", "in the grass"),
    "desert": ("in the desert", "in a desert", "among the dunes", "on the sand dunes"),
    "mountains": ("in the mountains", "in front of mountains", "among the peaks", "below the mountains"),
    "forest": ("in the forest", "in a forest", "in the woods", "among the pines"),
}

TERRAIN_NOUNS: dict[str, tuple[str, ...]] = {
    "sea": ("sea", "ocean", "coast", "seaside", "water"),
    "meadow": ("meadow", "field", "green hills", "grassland"),
    "desert": ("desert", "dunes", "sand dunes"),
    "mountains": ("mountains", "mountain landscape", "mountain", "peaks"),
    "forest": ("forest", "woods", "pine forest"),
}

TIME_PHRASES: dict[str, tuple[str, ...]] = {
    "dawn": ("at dawn", "at dawn", "at sunrise", "in the early morning", "in the morning"),
    "day": ("by day", "during the day", "at noon", "in daylight", "in the afternoon"),
    "dusk": ("at dusk", "at dusk", "at sunset", "in the evening", "at twilight"),
    "night": ("at night", "at night", "by night", "at midnight", "under the stars", "in the moonlight"),
}

TIME_WORDS: dict[str, tuple[str, ...]] = {
    "dawn": ("dawn", "sunrise", "morning"),
    "day": ("day", "daytime", "noon", "daylight"),
    "dusk": ("dusk", "sunset", "evening"),
    "night": ("night", "midnight", "night time", "moonlight"),
}

WEATHER_PHRASES: dict[str, tuple[str, ...]] = {
    "clear": ("under a clear sky", "in clear weather", "in fine weather"),
    "rain": ("in the rain", "in the rain", "on a rainy day", "in a storm", "while it rains"),
    "snow": ("in the snow", "in the snow", "while it snows", "in winter", "in falling snow"),
}

WEATHER_ADJECTIVES: dict[str, tuple[str, ...]] = {
    "clear": ("clear", "cloudless", "clear sky"),
    "rain": ("rainy", "rain", "stormy", "raining"),
    "snow": ("snowy", "snow", "winter", "snowing"),
}

OPENINGS = (
    "an image of",
    "a painting of",
    "a postcard of",
    "an illustration of",
    "a drawing of",
    "an image of",
    "a photo of",
    "please draw",
    "show me",
)

FILLERS = ("beautiful", "lovely", "quiet", "pretty", "nice", "very", "detailed", "art", "flat", "cosy", "the", "style")


def colour_word(colour: str, rng: random.Random) -> str:
    """Return the colour's name, occasionally a synonym."""
    others = COLOUR_WORDS.get(colour, ())
    return rng.choice(others) if others and rng.random() < 0.12 else colour


def with_article(words: str, rng: random.Random) -> str:
    """Prepend a, an, the or nothing."""
    lot = rng.random()
    if lot < 0.15:
        return words
    if lot < 0.25:
        return f"the {words}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
