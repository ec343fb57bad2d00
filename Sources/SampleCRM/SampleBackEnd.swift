import MobileStore

/// The enterprise database of the sample: customers, their orders and a catalog with pictures, the same bytes at each run.
///
/// No value is random: row numbers are multiplied to pick texts, and a generator with a fixed seed makes pictures and notes.
public enum SampleBackEnd {
    /// The numbers of rows.
    public struct Contents: Sendable, Equatable {
        /// All customers, and those of the region NORTH: three of four.
        public let customers: Int, northCustomers: Int
        /// Customers with notes of up to 100 KB.
        public let notes: Int
        /// Orders, with one to three lines each.
        public let orders: Int
        /// Products of the catalog.
        public let products: Int
        /// Products with a picture, 20 KB to 2 MB.
        public let pictures: Int

        /// - Parameter scale: 1 for 40,000 customers; any positive number.
        public init(scale: Double = 1) {
            precondition(scale > 0, "scale \(scale): use a positive number")
            func scaled(_ count: Int, atLeast least: Int) -> Int { max(least, Int((Double(count) * scale).rounded())) }
            customers = scaled(10_000, atLeast: 5) * 4
            northCustomers = customers / 4 * 3
            notes = scaled(200, atLeast: 4)
            orders = customers / 2 * 3
            products = scaled(500, atLeast: 25)
            pictures = scaled(60, atLeast: 3)
        }
    }

    /// Creates the database in a new file at `path`. At scale 1 the file has 50 MB, and creating it takes less than two seconds.
    ///
    /// Its constraints refuse the changes that the demo expects to fail: a credit limit below zero, an unknown region, an order without customer.
    /// - Parameter scale: 1 (default) for 40,000 customers, 60,000 orders and 500 products; less for tests.
    /// - Returns: the numbers of rows.
    /// - Throws: `StoreError` if the file cannot be written, or already holds these tables; it is then unchanged.
    @discardableResult
    public static func create(at path: String, scale: Double = 1) throws -> Contents {
        let contents = Contents(scale: scale)
        var profile = ConnectionProfile(path: path)
        profile.cacheSize = .megabytes(64)
        profile.journal = .unchanged
        profile.synchronous = .off
        let database = try Database(profile)
        try database.write(label: "sample back end") { connection in
            try connection.execute(SampleSchema.tables)
            try connection.execute(SampleSchema.words)
            try insertProducts(contents, connection)
            try connection.execute(SampleRows.customers, [.integer(Int64(contents.customers))])
            try insertNotes(contents, connection)
            try connection.execute(SampleRows.lines, [.integer(Int64(contents.orders)), .integer(Int64(contents.products))])
            try connection.execute(SampleRows.orders, [.integer(Int64(contents.orders)), .integer(Int64(contents.customers))])
            try connection.execute(SampleSchema.indexes)
        }
        try database.close()
        return contents
    }

    private static func insertProducts(_ contents: Contents, _ connection: Connection) throws {
        let insert = try connection.statement(SampleRows.product)
        var texts = SampleTexts(seed: 1)
        let pictures = SamplePictures(count: contents.pictures)
        // Pictures are spread over the catalog: the catalog has as many equal parts as pictures, and each part has one.
        let spread = contents.products / contents.pictures
        for index in 0..<contents.products {
            let hasPicture = index % spread == 0 && index / spread < contents.pictures
            let picture = hasPicture ? Value.blob(pictures.picture(index / spread)) : .null
            let description = index % 10 == 9 ? Value.null : .text(texts.text(bytes: 200 + (index * index) % 4000))
            _ = try insert.run([.integer(Int64(index + 1)), picture, description])
        }
    }

    private static func insertNotes(_ contents: Contents, _ connection: Connection) throws {
        let update = try connection.statement("UPDATE customer SET notes = ?2 WHERE id = ?1")
        var texts = SampleTexts(seed: 2)
        for index in 0..<contents.notes {
            // Cubes: many short texts, some long ones, the last of 100 KB.
            let part = (index + 1) * (index + 1) * (index + 1)
            let bytes = 100 + 102_300 * part / (contents.notes * contents.notes * contents.notes)
            let customer = 1 + index * (contents.customers / contents.notes)
            _ = try update.run([.integer(Int64(customer)), .text(texts.text(bytes: bytes))])
        }
    }
}
