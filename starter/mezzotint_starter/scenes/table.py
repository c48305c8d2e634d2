# ruff: noqa: RUF001  the labels' own apostrophes
"""The things of the scenes, by their labels in emojibase: "label", or "label=common name" where people say another."""

STANDING = """
monkey, gorilla, dog, poodle, wolf, fox, raccoon, cat, lion, tiger, leopard, moose, donkey, horse, unicorn, zebra,
deer, cow, pig, ewe=sheep, goat, camel, llama, giraffe, elephant, rhinoceros, hippopotamus, mouse, hamster, rabbit,
chipmunk, beaver, hedgehog, bear, polar bear, koala, panda, sloth, otter, skunk, kangaroo, turkey, chicken, rooster,
hatching chick, front-facing baby chick=chick, penguin, owl, flamingo, peacock, parrot, feather, frog, crocodile,
turtle, lizard, snake, dragon, T-Rex=dinosaur, snail, ant, beetle, lady beetle=ladybug, spider, scorpion,
spiral shell=shell, crab, lobster

bouquet, rose, sunflower, tulip, potted plant, evergreen tree=pine tree, deciduous tree=tree, palm tree, cactus,
four leaf clover=clover, maple leaf, nest with eggs=nest, mushroom

grapes, watermelon, tangerine, lemon, banana, pineapple, red apple=apple, pear, peach, cherries, strawberry,
blueberries, kiwi fruit=kiwi, tomato, coconut, avocado, eggplant, potato, carrot, ear of corn=corn,
hot pepper=chili pepper, bell pepper, cucumber, leafy green=lettuce, broccoli, garlic, onion, pea pod=peas

bread, croissant, baguette bread=baguette, pretzel, pancakes, waffle, cheese wedge=cheese, poultry leg=chicken leg,
cut of meat=steak, bacon, hamburger, french fries, pizza, hot dog, sandwich, taco, egg, cooking=fried egg, popcorn,
steaming bowl=noodle soup, spaghetti, sushi, soft ice cream=ice cream, doughnut=donut, cookie, birthday cake,
shortcake=slice of cake, cupcake, pie, chocolate bar, candy, lollipop, honey pot=pot of honey

glass of milk, hot beverage=cup of coffee, teapot, teacup without handle=cup of tea, wine glass=glass of wine,
beer mug=mug of beer, cup with straw=soda cup, bubble tea, spoon, amphora=vase

volcano, classical building=temple, wood=log, house, office building=skyscraper, school, factory,
Japanese castle=pagoda, castle, Tokyo tower=tower, Statue of Liberty, church, mosque, shinto shrine=torii gate,
fountain, tent, carousel horse=carousel, ferris wheel, roller coaster, circus tent

locomotive=steam train, bullet train, tram, bus, ambulance, fire engine=fire truck, police car, taxi,
automobile=car, pickup truck, delivery truck=truck, tractor, racing car=race car, motorcycle, motor scooter=scooter,
bicycle, skateboard, oil drum=barrel, vertical traffic light=traffic light, anchor, ring buoy=lifebuoy

hourglass done=hourglass, watch=wristwatch, alarm clock, mantelpiece clock=clock, umbrella, snowman, fire,
jack-o-lantern=pumpkin, Christmas tree, ribbon=bow, wrapped gift=gift, trophy, soccer ball, baseball, basketball,
volleyball, american football=football, tennis=tennis racket, boxing glove, bullseye=target, yo-yo,
video game=game controller, game die=dice, teddy bear, piñata, mirror ball=disco ball, yarn=ball of yarn

glasses, sunglasses, t-shirt, jeans, scarf, coat, socks, dress, handbag, backpack, man’s shoe=shoe,
running shoe=sneaker, hiking boot=boot, high-heeled shoe=high heel, crown, woman’s hat=hat, top hat, billed cap=cap,
ring, gem stone=diamond

megaphone, bell, microphone, headphone=headphones, radio, saxophone, trumpet, accordion, guitar,
musical keyboard=piano, violin, drum

mobile phone=smartphone, telephone, laptop, desktop computer=computer, keyboard, television, camera, candle,
light bulb, flashlight, red paper lantern=lantern, magnifying glass tilted left=magnifying glass, closed book=book,
coin, envelope, package=box, closed mailbox with raised flag=mailbox, pencil, paintbrush, scissors,
wastebasket=trash can, locked=padlock, key

hammer, axe, bow and arrow, shield, carpentry saw=saw, wrench, screwdriver, gear, magnet, ladder, microscope,
telescope, door, mirror, window, bed, couch and lamp=sofa, chair, toilet, bathtub, broom, basket, bucket,
toothbrush, shopping cart
"""

FLYING = """
bat, dove, eagle, bird, butterfly, honeybee=bee, airplane, helicopter, satellite, rocket, flying saucer=UFO,
ringed planet=planet, star, rainbow, tornado, snowflake, comet, high voltage=lightning bolt, balloon, kite,
crescent moon
"""

FLOATING = """
duck, swan, whale, dolphin, fish, tropical fish, blowfish=pufferfish, shark, octopus, jellyfish, sailboat, canoe,
speedboat, ship
"""

# Those of one colour that are also made, or grow, in others: "a blue car".
COLOURED = """
bird, butterfly, fish, parrot, dragon, frog, rose, tulip, apple, mushroom, cupcake, balloon, teapot, vase, tent,
car, pickup truck, truck, tractor, race car, motorcycle, scooter, tram, bus, bicycle, barrel, helicopter, rocket,
umbrella, gift, bow, boxing glove, yo-yo, ball of yarn, t-shirt, jeans, scarf, coat, dress, handbag, backpack,
sneaker, high heel, hat, cap, diamond, megaphone, guitar, telephone, lantern, book, mailbox, bucket, magnet, sofa,
chair, shield, broom, toothbrush, candle
"""

# Short names that do not name the thing, and words that make such.
NOT_NAMES = (
    "office birthday cooking barber oil party dart tada date email art disco zap flipper android mag orange locked "
    "boat pick archery american football tennis billiards ice rice wood ribbon package carousel soccer hatched "
    "turkey"
)
NOT_IN_NAMES = (
    "face red blue green lower left tilted abandoned building three bullettrain trex artificial sports "
    "cloud mantlepiece european expressionless drumsticks izakaya snow with"
)
