"""Everyday English words that belong together, in topics. Data only.

A prompt for a restaurant should bring up that somebody is a vegetarian, though no word is shared.
The lists were written for this purpose, from common sense. A semicolon ends a topic; a word may
stand in several.
"""

from __future__ import annotations

from typing import Final

TOPICS: Final = """
    food eat meal dish cuisine restaurant dinner lunch breakfast brunch snack dessert recipe
    cook cooking kitchen chef bake baking ingredient flavor taste spicy diet dietary
    vegetarian vegan meat seafood fish chicken beef vegetable fruit salad soup pasta pizza
    bread cheese rice noodle sushi dairy gluten nut allergy grocery menu dining cafe buffet;
    drink coffee tea juice wine beer cocktail bar alcohol beverage water soda smoothie brew
    brewery caffeine;
    travel trip vacation holiday journey tour tourist destination visit abroad flight fly
    airline airport plane hotel hostel resort lodging accommodation airbnb stay backpack
    backpacking itinerary sightseeing cruise luggage passport visa explore;
    hotel hostel resort lodging accommodation airbnb inn motel room suite bed guesthouse
    stay;
    train bus subway metro transit transport transportation commute taxi uber ride station
    railway;
    car drive driving vehicle automobile truck suv sedan motor electric hybrid mechanic
    garage road engine tesla motorcycle bike;
    bike bicycle cycling cyclist ride ebike;
    exercise workout fitness gym training trainer run running jog jogging marathon yoga
    pilates cardio weightlifting lifting muscle strength stretch swim swimming athlete
    athletic hike hiking walk cycling aerobic sport;
    sport game team match player league football soccer basketball baseball tennis golf
    hockey volleyball cricket rugby ski skiing snowboard surf surfing swim swimming race
    racing champion tournament coach athlete olympic stadium;
    health doctor medical medicine hospital clinic illness disease sick symptom pain injury
    treatment therapy therapist patient nurse prescription medication vitamin supplement
    surgery diagnosis checkup;
    stress anxiety anxious depression depressed mental therapy therapist meditation
    mindfulness relax relaxation calm breathe counseling overwhelmed burnout emotion
    emotional mood wellbeing;
    sleep insomnia bed bedtime nap rest tired fatigue mattress night dream;
    book read reading novel author fiction nonfiction literature story library bookstore
    audiobook ebook memoir biography fantasy mystery thriller genre writer poem poetry;
    music song album band artist concert guitar piano violin drum instrument sing singer
    singing playlist genre jazz rock pop classical rap orchestra musician melody listen
    spotify;
    movie film cinema show series tv television watch netflix streaming actor actress
    director comedy drama documentary horror thriller anime animation episode season sitcom;
    game gaming video console playstation xbox nintendo player board puzzle chess
    multiplayer esports rpg;
    art paint painting artist draw drawing sketch sculpture museum gallery exhibition craft
    crafting pottery canvas design creative watercolor;
    photo photography photograph picture camera image portrait lens shoot;
    school student class teacher course lesson study studying learn learning homework exam
    test education university college degree lecture tutor curriculum classroom campus
    academic grade math science;
    language english spanish french german chinese japanese korean learn vocabulary grammar
    speak translate bilingual;
    job work career employer employee office company interview resume hire hiring salary
    promotion boss manager colleague coworker profession professional workplace remote
    freelance recruit;
    business company startup entrepreneur market marketing brand customer client sales
    revenue investor product strategy founder;
    money finance financial budget budgeting save saving invest investing investment stock
    bank loan debt credit mortgage tax income expense retirement insurance pay cost price
    afford fund crypto wealth;
    shop shopping buy purchase store mall brand price discount online order retail shipping;
    clothes clothing wear fashion outfit dress shirt pants jeans shoe jacket coat suit style
    wardrobe fabric cotton wool leather silk sustainable designer accessory jewelry;
    beauty skin skincare makeup cosmetic hair haircut shampoo lotion moisturizer perfume
    fragrance nail salon sunscreen serum;
    home house apartment furniture decor decorate decoration room living bedroom kitchen
    sofa couch chair table lamp rug curtain renovation interior rent landlord neighborhood;
    clean cleaning laundry dish vacuum tidy declutter organize organization chore housework;
    garden gardening plant flower tree seed soil lawn grow harvest vegetable herb compost;
    pet dog cat puppy kitten animal bird fish hamster rabbit vet veterinarian breed adopt
    adoption shelter leash litter;
    animal wildlife zoo bird lion elephant whale dolphin shark horse farm insect species;
    nature outdoor outdoors hike hiking camp camping trail mountain forest park beach lake
    river ocean sea island national kayak climb climbing scenery wilderness;
    weather rain snow sun sunny storm wind hot cold temperature climate winter summer;
    environment climate sustainable sustainability recycle recycling green pollution energy
    carbon waste plastic organic conservation;
    computer laptop software program programming code coding developer app application
    website web internet online data database server cloud python javascript api algorithm
    tech technology ai machine device hardware bug;
    phone smartphone iphone android mobile app tablet device apple samsung call text;
    device gadget headphones speaker smartwatch wearable electronics smart monitor keyboard
    charger battery camera;
    family mother mom father dad parent child kid son daughter brother sister sibling
    grandmother grandfather grandma grandpa grandparent aunt uncle cousin baby toddler wife
    husband spouse parenting;
    friend friendship social party meet gathering hangout buddy classmate peer;
    love relationship romantic date dating boyfriend girlfriend partner marriage marry
    wedding wife husband couple breakup anniversary engaged;
    birthday party celebration celebrate gift present anniversary cake holiday christmas
    thanksgiving easter halloween festival;
    religion church faith god pray prayer spiritual bible temple mosque;
    politics government election vote president law policy political party campaign;
    law legal lawyer court contract judge attorney rights;
    news media journalist newspaper magazine article social blog podcast;
    history historical ancient century war museum culture heritage tradition archaeology;
    science scientist physics chemistry biology astronomy space planet star universe
    experiment research laboratory telescope;
    write writing writer essay article blog story journal draft edit poem author publish
    manuscript;
    dance dancing dancer ballet salsa choreography;
    volunteer charity donate donation nonprofit community fundraiser shelter homeless help;
    goal plan habit routine productivity schedule time calendar task deadline focus
    motivation reminder;
    fear afraid scared anxiety phobia nervous worry;
    happy joy smile excited glad cheerful delight fun;
    sad cry upset unhappy lonely hurt disappointed miss grief;
    angry mad annoyed frustrated argue argument conflict fight;
    hobby pastime collect collection knitting sewing woodworking crochet craft diy;
    crowd crowded noisy loud quiet peaceful busy nightlife club;
    toy play child kid doll lego playground;
    teacher mentor coach tutor guide instructor;
    meeting presentation email report project deadline team conference;
    deploy deployment server kubernetes docker container hosting cloud release rollout ci
    production
"""
