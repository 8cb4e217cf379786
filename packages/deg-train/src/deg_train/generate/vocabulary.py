"""Word lists that the kinds of value are composed from."""

from __future__ import annotations

__all__ = ["WORDS"]

_LISTS = {
    "product": """
        wireless mouse|garden hose|espresso machine|standing desk|hiking boots|LED desk lamp|
        yoga mat|mechanical keyboard|rain jacket|cast iron skillet|bluetooth speaker|
        office chair|travel mug|noise-cancelling headphones|electric kettle|bookshelf|
        cordless drill|baby stroller|sleeping bag|smart thermostat|water filter|laser printer|
        toner cartridge|USB-C cable|power bank|dash cam|air fryer|robot vacuum|kitchen scale|
        picture frame|wool blanket|bicycle helmet|camping stove|paper shredder|label maker|
        graphics tablet|webcam|memory card|router|monitor arm|fountain pen|tennis racket|
        inflatable kayak|dog bed|cat tree|fish tank|bird feeder|lawn mower|hedge trimmer|
        pressure washer|step ladder|paint roller|wall clock|shower curtain|bath towel|
        pillow case|rice cooker|chef's knife|wine glasses|salad bowl|lunch box|ski goggles|
        running shoes|denim jacket|leather wallet|sunglasses|wristwatch|necklace|backpack|
        suitcase|umbrella|beach tent|garden bench|patio heater|solar panel|inverter|car battery|
        brake pads|oil filter|snow chains|roof box|electric toothbrush|hair dryer|face serum|
        sun cream|multivitamins|protein powder|green tea|coffee beans|olive oil|dark chocolate|
        board game|jigsaw puzzle|building blocks|remote control car|acoustic guitar|
        digital piano|microphone|turntable|film camera|tripod|binoculars|telescope|microscope|
        safety goggles|work gloves|first aid kit|fire extinguisher|smoke detector|door lock|
        ceramic tiles|floor lamp|curtain rail|mattress|bed frame|wardrobe|coffee table|
        dining chair
        """,
    "adjective": """
        Deluxe|Compact|Pro|Classic|Ultra|Mini|Eco|Premium|Slim|Heavy-Duty|Portable|Foldable|
        Smart|Vintage|Rapid|Silent|Adjustable|Ergonomic|Rechargeable|Outdoor|Stainless|Organic|
        Nordic|Urban
        """,
    "job_title": """
        Accountant|Data Analyst|Software Engineer|Head Nurse|Warehouse Associate|
        Marketing Manager|Project Coordinator|Chief Financial Officer|Electrician|
        Site Supervisor|Legal Counsel|Sous Chef|Research Assistant|Delivery Driver|
        HR Business Partner|Product Owner|Sales Representative|Customer Success Manager|
        Mechanical Engineer|Graphic Designer|Copywriter|Lab Technician|Physiotherapist|
        Primary School Teacher|Professor of History|Systems Administrator|Dentist|
        Security Guard|Pharmacist|Store Manager|Barista|Plumber|Welder|Architect|
        Quantity Surveyor|Civil Engineer|Machine Learning Engineer|DevOps Engineer|
        Technical Writer|Event Planner|Executive Assistant|Procurement Specialist|
        Compliance Officer|Tax Adviser|Paralegal|Translator|Journalist|Photographer|
        Flight Attendant|Train Driver|Forklift Operator|Quality Inspector|Veterinary Nurse|
        Librarian|Museum Curator|Social Worker|Chief of Staff|Team Lead|Receptionist|
        Real Estate Agent|Insurance Underwriter|Claims Handler|Actuary|Biologist|Geologist|
        Statistician
        """,
    "seniority": """
        Senior|Junior|Lead|Principal|Assistant|Deputy|Interim|Regional|Associate|Trainee
        """,
    "department": """
        Accounts Payable|Human Resources|Customer Care|Research and Development|Logistics|
        Procurement|Legal Affairs|Marketing|Quality Assurance|IT Operations|Facilities|
        Radiology|Cardiology|Emergency Medicine|Public Works|Finance|Sales Operations|
        Internal Audit|Admissions|Physics|Modern Languages|Corporate Communications|
        Product Design|Data Platform|Security|Maintenance|Claims|Underwriting|Treasury|Payroll|
        Oncology|Pediatrics|Student Services|Mathematics|Fleet|Housekeeping|Front Office|
        Food Safety|Regulatory Affairs|Business Development|Investor Relations
        """,
    "industry": """
        automotive|retail banking|renewable energy|food processing|pharmaceuticals|
        telecommunications|hospitality|construction|agriculture|logistics|education|insurance|
        aerospace|fashion|publishing|gaming|healthcare|real estate|mining|shipbuilding|
        biotechnology|consumer electronics|chemicals|media and entertainment|public sector|
        cyber security|textiles|forestry|waste management|furniture|management consulting|
        e-commerce|semiconductors|tourism|legal services|water supply|rail transport
        """,
    "degree": """
        BSc in Computer Science|MSc in Chemistry|PhD in Linguistics|Bachelor of Arts|MBA|LLM|
        Bachelor of Nursing|Master of Public Health|BA in History|MEng in Civil Engineering|
        Diploma in Graphic Design|PhD in Economics|Master of Education|
        BEng Mechanical Engineering|Doctor of Medicine|BSc (Hons) Psychology|MA in Philosophy|
        Associate Degree in Accounting|MSc Data Science|Bachelor of Laws|Master of Architecture|
        PhD in Molecular Biology|BFA in Film|Postgraduate Certificate in Teaching|
        Doctor of Veterinary Medicine|BSc Agriculture|MPhil in Music
        """,
    "language": """
        English|German|French|Spanish|Italian|Polish|Dutch|Portuguese|Swedish|Japanese|Korean|
        Mandarin|Arabic|Turkish|Hindi|Bengali|Swahili|Greek|Czech|Hungarian|Finnish|Danish|
        Norwegian|Ukrainian|Romanian|Vietnamese|Thai|Hebrew|Catalan|Welsh|Irish|Icelandic|
        Estonian|Latvian|Tamil|Urdu|Farsi
        """,
    "nationality": """
        German|French|British|American|Canadian|Polish|Italian|Spanish|Japanese|Indian|
        Brazilian|Kenyan|Nigerian|Dutch|Swedish|Norwegian|Turkish|Greek|Mexican|Chilean|
        Australian|South Korean|Irish|Austrian|Swiss|Belgian|Portuguese|Egyptian|Moroccan|
        Vietnamese|Filipino|Ukrainian|Czech|Danish
        """,
    "color": """
        red|navy blue|forest green|matte black|ivory|charcoal|light grey|burgundy|turquoise|
        mustard|coral|teal|sand|off-white|silver|rose gold|olive|lavender|cobalt|terracotta|
        emerald|sky blue|copper|anthracite|cream|magenta|plum|mint|khaki|crimson|pearl white|
        graphite|amber|indigo
        """,
    "material": """
        oak|stainless steel|cotton|merino wool|recycled plastic|aluminium|bamboo|leather|
        ceramic|glass|carbon fibre|linen|walnut|silicone|nylon|brass|granite|marble|polyester|
        cork|concrete|titanium|birch plywood|cast iron|copper|suede|felt|rubber|polycarbonate|
        limestone|jute|velvet|porcelain
        """,
    "drug": """
        ibuprofen|amoxicillin|metformin|lisinopril|atorvastatin|omeprazole|paracetamol|
        salbutamol|levothyroxine|amlodipine|sertraline|warfarin|prednisone|insulin glargine|
        cetirizine|gabapentin|losartan|azithromycin|doxycycline|furosemide|clopidogrel|ramipril|
        bisoprolol|pantoprazole|fluoxetine|tramadol|naproxen|loratadine|ciprofloxacin|
        simvastatin|apixaban|methotrexate|Entresto|Ventolin|Lipitor|Augmentin|Nurofen|Ozempic|
        Eliquis|Zyrtec
        """,
    "disease": """
        type 2 diabetes|seasonal influenza|asthma|hypertension|migraine|pneumonia|bronchitis|
        eczema|osteoarthritis|anaemia|atrial fibrillation|Lyme disease|gastritis|tonsillitis|
        psoriasis|hypothyroidism|sciatica|measles|chickenpox|acute sinusitis|kidney stones|
        appendicitis|gout|iron deficiency|carpal tunnel syndrome|tinnitus|glaucoma|shingles|
        whooping cough|epilepsy|plantar fasciitis|coeliac disease|sleep apnoea|
        deep vein thrombosis|otitis media|malaria
        """,
    "dish": """
        mushroom risotto|beef stroganoff|chicken tikka masala|pad thai|lentil soup|fish tacos|
        ramen|ratatouille|shepherd's pie|paella|tiramisu|apple crumble|gnocchi with sage butter|
        pierogi|goulash|falafel wrap|Caesar salad|grilled sea bass|pumpkin curry|bibimbap|
        lamb tagine|moussaka|lasagne|crème brûlée|borscht|wiener schnitzel|duck confit|
        vegetable stir-fry|margherita pizza|cheeseburger|aubergine parmigiana|shakshuka|dim sum|
        pho|jollof rice|ceviche|pancakes with maple syrup|pastel de nata
        """,
    "animal": """
        red fox|barn owl|labrador|tabby cat|harbour seal|hedgehog|grey heron|brown bear|
        shetland pony|alpaca|guinea pig|bearded dragon|cockatiel|beagle|merino sheep|
        holstein cow|golden retriever|snow leopard|otter|badger|wolf|lynx|bottlenose dolphin|
        green turtle|emperor penguin|kingfisher|fruit bat|hare|roe deer|wild boar|border collie|
        maine coon|budgerigar|ferret|tree frog|koi carp
        """,
    "plant": """
        lavender|monstera|silver birch|tomato|sunflower|basil|rosemary|snake plant|orchid|oak|
        maple|hydrangea|fern|aloe vera|tulip|peony|ivy|beech|cherry tree|strawberry|blueberry|
        chili pepper|courgette|winter wheat|barley|jasmine|wisteria|rhododendron|cactus|
        bonsai juniper|mint|thyme
        """,
    "species": """
        Quercus robur|Vulpes vulpes|Salmo trutta|Bubo bubo|Apis mellifera|Panthera leo|
        Rosa canina|Felis catus|Lynx pardinus|Passer domesticus|Bombus terrestris|Picea abies|
        Homo sapiens|Escherichia coli|Drosophila melanogaster|Orcinus orca|Larus argentatus|
        Pinus sylvestris|Arabidopsis thaliana|Mus musculus|Falco peregrinus|Gadus morhua|
        Canis lupus|Ursus arctos|Aquila chrysaetos|Fagus sylvatica|Delphinus delphis|
        Coccinella septempunctata|Rana temporaria
        """,
    "planet": """
        Mercury|Venus|Mars|Jupiter|Saturn|Uranus|Neptune|Kepler-22b|Proxima Centauri b|
        TRAPPIST-1e|HD 209458 b|Gliese 581c|WASP-12b|K2-18b|55 Cancri e|TOI-700 d|LHS 1140 b|
        Pluto|Ceres|Eris
        """,
    "chemical": """
        sodium chloride|acetic acid|ethanol|benzene|ammonium nitrate|hydrogen peroxide|
        sulfuric acid|potassium permanganate|toluene|acetone|calcium carbonate|methanol|
        nitric acid|formaldehyde|sodium hydroxide|isopropanol|chloroform|titanium dioxide|
        zinc oxide|copper sulfate|urea|glycerol|magnesium sulfate|ethyl acetate|hexane|
        lithium carbonate|silver nitrate|phenol|aniline|xylene
        """,
    "software": """
        LibreOffice|PostgreSQL|Blender|Grafana|Docker Desktop|Visual Studio Code|
        Adobe Photoshop|AutoCAD|Salesforce|Microsoft Teams|Slack|Jira|Zoom|Firefox|QGIS|GIMP|
        SAP S/4HANA|Redis|Kubernetes|nginx|Thunderbird|Notion|Figma|Matlab|Stata|WordPress|
        Shopify|Excel|Power BI|Tableau|Trello|Confluence|Jenkins|Ansible|Terraform|
        Elasticsearch|RabbitMQ|Kafka|MySQL|Nextcloud|Mattermost|Keycloak
        """,
    "headline": """
        Council approves new tram line|Storm leaves thousands without power|
        Local bakery wins national award|Museum reopens after three-year renovation|
        Rents climb for the fifth month in a row|
        River cleanup draws record number of volunteers|
        School district weighs later start times|Factory closure puts 300 jobs at risk|
        Scientists map the seabed off the coast|Harbour expansion delayed again|
        Farmers warn of a poor harvest|City bans cars from the old town|
        Library extends opening hours|New vaccine trial begins in spring|
        Ferry operator cancels winter service|Start-up raises funds for cheaper batteries|
        Hospital opens second emergency ward|Court rejects appeal in pollution case|
        Orchestra names its first female conductor|Housing plan splits residents|
        Rail strike called off at the last minute|Drought limits lifted
        """,
    "quantity_noun": """
        boxes|bottles|pallets|pieces|sheets|rolls|bags|crates|litres|sets|packs|units|cartons|
        cans|tablets|capsules|tickets|copies|hours|days|seats|barrels|bundles|jars|trays|
        sachets|reams|pairs
        """,
    "contract_term": """
        12 months|24 months|open-ended|36-month fixed term|one year, renewable|five years|
        month to month|until further notice|6 weeks|90 days|18 months|
        two years with an option to extend|fixed term|permanent|three years|rolling quarterly|
        until completion of the works|academic year|one season
        """,
    "rating": """
        4.5/5|3 stars|8 out of 10|excellent|B+|AA-|two thumbs up|9.1|7/10|4.8 stars|very good|A|
        fair|2 out of 5|five stars|Gold|BBB|92 points|satisfactory|outstanding|3.5/5|C minus
        """,
    "currency_code": """
        USD|EUR|GBP|CHF|JPY|PLN|SEK|NOK|DKK|CZK|HUF|CAD|AUD|INR|BRL|ZAR|SGD|NZD|MXN|TRY
        """,
    "noun": """
        Harbor|River|Lantern|Maple|Falcon|Summit|Willow|Anchor|Orchid|Comet|Meadow|Beacon|Cedar|
        Raven|Ember|Canyon|Compass|Juniper|Horizon|Atlas|Bridge|Copper|Delta|Echo|Forest|
        Granite|Heron|Island|Jade|Kestrel|Lagoon|Mosaic|Nimbus|Oasis|Pioneer|Quartz|Saffron|
        Tundra|Velvet|Zephyr|Garden|Winter|Summer|Shadow|Mirror|Stone|Thunder|Clover|Marble|
        Sparrow|Tiger|Whale|Prairie|Glacier
        """,
    "mood": """
        Silent|Golden|Broken|Endless|Distant|Crimson|Gentle|Hidden|Last|First|Lonely|Midnight|
        Northern|Painted|Quiet|Restless|Secret|Stolen|Sunlit|Wandering|Wild|Blue|Burning|
        Forgotten|Hollow|Paper
        """,
    "abstract": """
        Memory|Silence|Promise|Letters|Dreams|Hunger|Glory|Mercy|Gravity|Fortune|Patience|Rain|
        Fire|Dust|Light|Echoes|Secrets|Roads|Tides|Ashes|Bones|Clocks|Wings|Salt|Smoke|Stars|
        Wolves|Honey
        """,
    "event": """
        Spring Gala|Annual General Meeting|Jazz Festival|Book Fair|Open Day|Charity Run|
        Food Market|Developer Conference|Wine Tasting|Film Week|Science Night|Trade Show|
        Summer Camp|Chess Open|Photo Walk|Career Fair|Town Hall|Harvest Festival|Hackathon|
        Alumni Dinner|Marathon|Design Summit
        """,
    "team_noun": """
        Tigers|Rovers|United|Wanderers|Hawks|City|Lions|Wolves|Bulls|Comets|Rangers|Athletic|
        Sharks|Eagles|Falcons|Dragons|Knights|Giants|Saints|Pirates|Storm|Phoenix|Royals|Titans|
        Albion
        """,
    "file_stem": """
        report|invoice|backup|config|index|main|notes|budget|photo|scan|contract|users|access|
        error|train|model|schema|readme|minutes|draft|summary|export|payroll|inventory|slides|
        logo|chart
        """,
    "file_folder": """
        home|var|log|srv|opt|data|projects|archive|Documents|Downloads|shared|src|build|tmp|etc|
        uploads|finance|clients|media|releases|backup|public|private|team|reports
        """,
    "file_ending": """
        txt|pdf|csv|json|log|xlsx|docx|png|py|yaml|xml|zip|tar.gz|md|sql|conf|jpg|mp4|ts|go
        """,
    "host": """
        web|db|mail|cache|api|proxy|node|worker|vpn|gw|build|files|edge|auth|search|queue|app
        """,
    "tld": "com|org|net|io|co.uk|de|fr|es|it|pl|eu|info|dev|app|ch|at|nl|se|biz|edu|gov|example",
    "building": """
        Block A|North Wing|Science Building|Tower 2|Annex|Main Hall|Building 7|Warehouse C|
        East Pavilion|Library Building|Old Mill|Harbour House|Riverside Centre|Maxwell Building|
        Terminal 3|Block 12|Engineering Complex|South Tower|The Granary|Conference Centre|
        Hangar 4|Villa Rosa|Pavilion D
        """,
    "university_pattern": """
        University of {}|{} University|{} Institute of Technology|Technical University of {}|
        {} State University|{} College|Royal Academy of {}|{} School of Economics|{} Polytechnic
        """,
    "company_suffix": """
        Ltd|Inc.|GmbH|S.A.|LLC|AG|PLC|B.V.|& Sons|Group|Holdings|Partners|Systems|Logistics|
        Foods|Labs|Solutions|Industries|Consulting|Media|Energy|Pharma|Interiors|Motors|
        Software|Textiles|Bakery|& Co.|Co-operative|Trading|Engineering|Sp. z o.o.|S.r.l.|AB|Oy|
        KG|Studio|Works|International
        """,
    "restaurant_pattern": """
        The {} Table|Café {}|Trattoria {}|{} Grill|Bistro {}|{} & Vine|Little {}|Casa {}|
        The {} Arms|{} Noodle House|Chez {}|La {}|Zum {}|{} Kitchen|The Old {}|{} Tandoori|
        Osteria {}|{} Diner
        """,
}

WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(word.strip() for word in text.split("|")) for name, text in _LISTS.items()
}
