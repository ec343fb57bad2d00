/// The rows of the sample, as statements that create all rows of a table at once.
enum SampleRows {
    /// Lists of words, each a temporary table of this name.
    static let lists: [(name: String, words: [String])] = [
        (
            "surname",
            [
                "Ødegård", "Müller", "O'Brien", "García", "Nowak", "Šimić", "Lindström", "Rossi", "Dubois", "Papadopoulos", "山田", "Ivanova",
                "Çelik", "Kovács", "Jensen", "Smith", "van der Berg", "Niño", "Łukaszewicz", "Håkansson", "Ferreira", "Weiß", "Kaya", "Nguyễn",
                "Andersen", "Brown", "Conti", "Duarte", "Eriksson", "Fischer", "Gruber", "Hansen", "Ito", "Johansson", "Keller", "Larsen",
                "Moreau",
            ]
        ),
        (
            "first_name",
            [
                "Ada", "Björn", "Chloé", "Dmitri", "Emre", "Françoise", "Grete", "Hana", "İpek", "José", "Kjell", "Lucía", "Mehmet", "Noor",
                "Oskar", "Petra", "Quentin", "Rosa", "Søren", "Tomás", "Ursula", "Víctor", "Wanda", "Xenia", "Yuki", "Zoë", "Alma", "Bruno", "Carla",
            ]
        ),
        (
            "trade",
            [
                "Foods", "Bakery", "Harbour Supply", "Wines", "Delicatessen", "Trading", "Fish Market", "Fruit Import", "Café", "Dairy",
                "Catering", "Grocers", "Wholesale", "Spices", "Brewery", "Farm Shop", "Hotel", "Restaurant", "Kitchen", "Tea House", "Mill",
                "Butchers", "Oils",
            ]
        ),
        ("legal_form", ["GmbH", "Ltd.", "S.A.", "AB", "S.r.l.", "& Sons", "B.V.", "Oy", "K.K.", "A/S", "Inc."]),
        (
            "street_name",
            [
                "Harbour Road", "Mill Lane", "Königsallee", "Rue de l'Église", "Calle Mayor", "Storgatan", "Via Roma", "Market Square",
                "Station Street", "Lindenweg", "Avenida da Liberdade", "Kirkegade", "Church Hill", "Ulica Długa", "Quay 7", "Old Bridge",
                "Parkstraße", "Plaza de España", "North Gate",
            ]
        ),
        (
            "city_name",
            [
                "Dublin", "Hamburg", "Malmö", "Porto", "Kraków", "Genève", "Bergen", "Lyon", "Sevilla", "Torino", "Gent", "Aarhus", "Cork",
                "Bremen", "Göteborg", "Utrecht", "Zürich", "Trieste", "Bilbao", "Turku", "Leith", "Calais", "Rostock",
            ]
        ),
        (
            "quality",
            [
                "Fresh", "Smoked", "Organic", "Dried", "Roasted", "Pickled", "Fine", "Wild", "Sweet", "Aged", "Frozen", "Crème", "Extra", "Pure",
                "Red", "Golden",
            ]
        ),
        (
            "ware",
            [
                "Salmon", "Coffee", "Olives", "Cheese", "Honey", "Rye Bread", "Jalapeños", "Tea", "Butter", "Mustard", "Herring", "Apples",
                "Walnuts", "Paté", "Pears", "Rice", "Figs", "Sausage", "Lentils", "Cider", "Vinegar", "Saffron", "Chocolate",
            ]
        ),
        (
            // The category of each ware, at the same index.
            "category_name",
            [
                "Fish", "Drinks", "Preserves", "Dairy", "Preserves", "Bakery", "Preserves", "Drinks", "Dairy", "Spices", "Fish", "Produce",
                "Produce", "Meat", "Produce", "Produce", "Produce", "Meat", "Produce", "Drinks", "Spices", "Spices", "Bakery",
            ]
        ),
        ("status_name", ["NEW", "CONFIRMED", "SHIPPED", "PAID"]),
    ]

    /// An SQL expression: a number from 0 to 16383 for row `n`, another one for each `salt`. (Knuth's multiplicative hashing.)
    private static func number(_ salt: Int, of row: String = "n") -> String {
        "((((\(row) + \(salt * 7919)) * 2654435761) % 4294967296) / 262144)"
    }

    /// An SQL expression: a word of a list for row `n`.
    private static func word(_ list: String, _ salt: Int, of row: String = "n") -> String {
        let count = lists.first { $0.name == list }?.words.count ?? 1
        return "(SELECT word FROM temp.\(list) WHERE number = \(number(salt, of: row)) % \(count))"
    }

    /// The numbers from 1 to the statement's first parameter.
    private static let numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)"

    /// Parameter: the number of rows. Three of four belong to the region NORTH; every seventh has no telephone.
    static let customers = """
        \(numbers)
        INSERT INTO customer
        SELECT n,
            \(word("surname", 1)) || ' ' || \(word("trade", 2)) || ' ' || \(word("legal_form", 3)),
            iif(n % 11 = 0, NULL, \(word("first_name", 4)) || ' ' || \(word("surname", 5))),
            \(word("street_name", 6)) || ' ' || (1 + \(number(7)) % 240),
            \(word("city_name", 8)),
            CASE WHEN n % 4 <> 0 THEN 'NORTH' WHEN n % 12 = 0 THEN 'EAST' WHEN n % 12 = 4 THEN 'SOUTH' ELSE 'WEST' END,
            iif(n % 7 = 0, NULL, printf('+%d %d %06d', 30 + \(number(9)) % 20, 10 + \(number(10)) % 90, n)),
            iif(n % 5 = 0, NULL, 'office' || n || '@example.com'),
            (\(number(11)) * 61) / 100.0,
            iif(n % 3 = 0, NULL, (\(number(12)) % 60) / 200.0),
            n % 13 <> 0,
            date('2005-01-01', '+' || (\(number(13)) % 7000) || ' days'),
            iif(n % 9 = 0, NULL, strftime('%Y-%m-%dT%H:%M:%fZ', 1600000000 + \(number(14)) * 9973.125, 'unixepoch')),
            NULL
        FROM numbers
        """

    /// Parameters: number, picture, description.
    static let product = """
        INSERT INTO product
        SELECT ?1, \(word("quality", 21, of: "?1")) || ' ' || \(word("ware", 22, of: "?1")) || ' No. ' || ?1,
            (95 + \(number(23, of: "?1"))) / 100.0, \(word("category_name", 22, of: "?1")), ?2, ?3
        """

    /// Parameters: the numbers of orders and of products. One to three lines for each order; prices are those of the catalog.
    static let lines = """
        \(numbers)
        INSERT INTO sales_order_line
        SELECT n, line, product.id, 1 + \(number(31, of: "(n * 4 + line)")) % 24, product.price
        FROM numbers
        JOIN (SELECT 1 AS line UNION ALL SELECT 2 UNION ALL SELECT 3) ON line <= 1 + \(number(32)) % 3
        JOIN product ON product.id = 1 + \(number(33, of: "(n * 4 + line)")) % ?2
        """

    /// Parameters: the numbers of orders and of customers. Every tenth customer is a regular one; the regular ones share a third of the orders.
    /// The total is the sum of the order's lines, to the cent.
    static let orders = """
        \(numbers)
        INSERT INTO sales_order
        SELECT n,
            CASE WHEN n % 3 = 0 THEN 1 + (n * 2654435761 % 4294967296) / 128 % (?2 / 10) * 10
                ELSE 1 + (n * 2654435761 % 4294967296) / 8 % ?2 END,
            date('2024-01-01', '+' || (\(number(42)) % 700) || ' days'),
            \(word("status_name", 43)),
            (SELECT CAST(round(sum(quantity * price) * 100) AS INTEGER) / 100.0 FROM sales_order_line WHERE order_id = n),
            iif(n % 6 = 0, 'Deliver to ' || \(word("street_name", 44)) || ', before noon', NULL)
        FROM numbers
        """
}
