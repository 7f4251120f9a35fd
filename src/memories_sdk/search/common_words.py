"""English words that say little about what a text is about, in three strengths. Data only.

Idf on one shelf cannot tell them: in a few dozen short memories "recommend" or "plan" is as rare as
a name. The lists were written for this purpose; they hold base forms, which the analyser stems.
"""

from __future__ import annotations

from typing import Final

EMPTY: Final = """
    a about above after again against all am an and any are aren as at be because been before being
    below between both but by can could couldn d did didn do does doesn doing don down during each
    few for from further had hadn has hasn have haven having he her here hers herself him himself
    his how i id if im in into is isn it its itself ive just ll m me more most my myself no nor not
    now o of off on once only or other our ours ourselves out over own re s same she should
    shouldn so some such t than that thats the their theirs them themselves then there these they
    this those through to too under until up us ve very was wasn we were weren what when where
    which while who whom whose why will with won would wouldn y you your youre yours yourself
    yourselves
"""
"""Words that only join others. A query drops them, unless it has no others."""

FREQUENT: Final = """
    able actually age ago agree air allow almost alone along already also although always answer
    anyone anything appear area around art ask away baby back bad become begin believe best better
    big bit body book bring build business buy call car case certain certainly change child city
    clear come company consider continue country create cut day decide die different door early
    easy education end enough even evening ever every everyone everything expect eye face fact
    fall family far father feel find fine first five follow force four free friend full game get
    girl give go good got gotta government great group grow gonna guy hand happen hard have head
    health hear hello help hey hi high history hmm hold home hope hour house however hundred idea
    important include information issue job keep kid kind know large last late later lead learn
    leave let level life like line little live long look lose lot love make man many maybe mean
    meet member million minute moment money month morning mother move much name need never new
    next night nothing number offer office often oh ok okay old one open others parent part party
    pass pay people perhaps person place play please point possible power problem program public
    pull question quick quite rather reach read real really reason recent remain remember report
    require research result right room run say school second see seem sell send serve service set
    several share show side since sit small someone something soon sorry speak special spend stand
    start state stay still stop story strong student study suggest sure system take talk teacher
    team tell ten thank thanks thing think third though thousand three time today together true
    try turn two understand use wait walk wanna want war watch water way week well whatever
    whether whole win within without woman wonder word work world wow write wrong yeah year yes
    yesterday yet young
"""
"""Words of nearly every conversation."""

COMMON: Final = """
    absolutely accept account achieve act action active activity actual add additional address
    advice affect afraid afternoon ahead aim alive amaze amount announce anyway apply approach
    april argue arm arrive article aspect attack attempt attend attention august available average
    avoid aware awesome balance bank base basic beautiful bed beginning behavior benefit beyond
    bill black blood blue board boy break brother brown budget camp capital care career carry catch
    cause center central century challenge chance character charge check choice choose church
    class clearly close cold collect college color colour comment commit common community compare
    complete completely concern condition confirm connect contact contain content control
    conversation cool cost couple course court cover crazy culture current currently customer daily
    dark data date daughter dead deal death decade december decision deep definitely deliver depend
    describe design despite detail determine develop development difference difficult dinner direct
    direction director discover discuss discussion display doctor dollar double doubt draw dream
    drive drop drug due eat economic edge effect effort either else email energy enjoy ensure enter
    entire environment especially establish event eventually everybody evidence exact exactly
    example excellent except excite exist experience expert explain express extra fair fan fast
    favorite favourite fear february feature feeling field fight figure fill film final finally
    finger finish fire fit fix floor fly focus food foot foreign forget form former forward friday
    front fun fund funny future gain general generally glad glass goal god grand green ground guess
    guide half handle hang happy heart heat heavy hell highlight hit honest hospital hot huge human
    husband ill image imagine immediately impact imply impossible impress improve increase
    indeed indicate individual industry influence inside instance instead intend interest
    international introduce invite involve item january join july june key kill king knowledge lack
    lady land language laugh law lay leader legal less letter lie lift light likely limit link list
    listen local location main maintain major majority manage management manager march mark market
    material matter maximum medical medium mention message middle mind miss model modern monday
    movie music national natural nature near nearly necessary news nice none normal note notice
    november object obtain obvious obviously occur october official opinion opportunity option
    order organization original outside oversee page pain pair paper particular particularly past
    patient pattern per perfect perform performance period personal phone photo pick picture piece
    plan plus police policy poor popular population position positive potential practice prefer
    prepare present president press pressure pretty prevent previous price private probably process
    produce product project promise proper property protect prove provide purpose push put quality
    quickly raise range rate ready realize receive recently recognize recommend recommendation red
    reduce refer reflect regard region relate relationship release rely remind remove repeat
    replace represent request resource respond response rest return reveal review rich ride ring
    rise risk road role rule sad safe saturday save scene schedule science season seat section
    security seek select sense separate september series serious seriously shape shoot short shot
    sign significant similar simple simply single sister site situation six size skill sleep social
    society solution solve somebody somewhere son song sort sound source south space specific staff
    stage standard statement station step stick store straight strategy street structure stuff
    style subject success successful such sudden suddenly summer sunday support suppose surface
    surprise survive table task teach technology television tend term test text themselves theory
    thought throw thursday tie till tip title tomorrow tonight top topic total touch toward town
    track trade traditional train training travel treat treatment tree trip trouble trust truth
    tuesday type understanding unit unless unlike update upon usually value various version via
    view visit voice vote wall warm wear wednesday weekend weight welcome west white wide wife wind
    window wish wonderful worker worry worth yourself
"""
"""Words of many conversations."""
