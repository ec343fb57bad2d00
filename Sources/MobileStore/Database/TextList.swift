internal import MobileCore

/// Texts in memory, each with a number, that one statement reads as the rows of a table: it writes or looks up many rows without a run for each of them.
///
///     let names = TextList(bytes, places, numbers: keys)
///     try statement.with(names, at: 1) { try statement.run() }  // INSERT INTO item (id, name) SELECT number, text FROM mc_text_list(?1)
///
/// The rows come in the order of the list.
package struct TextList: Sendable {
    private let bytes: [UInt8]
    private let places: [mc_text_place]
    private let numbers: [Int64]

    /// The number of rows.
    package var count: Int { places.count }

    /// - Parameters:
    ///   - bytes: have the texts in UTF-8.
    ///   - places: of each row's text in `bytes`.
    ///   - numbers: one per row.
    package init(_ bytes: [UInt8], _ places: [Range<Int>], numbers: [Int64]) {
        precondition(places.count == numbers.count, "each text of a list has a number")
        self.bytes = bytes
        self.places = places.map { mc_text_place(start: $0.lowerBound, end: $0.upperBound) }
        self.numbers = numbers
    }

    /// Returns the table of a list in SQL, with the columns `number` and `text`.
    /// - Parameter place: the place of the list among the parameters, from 1.
    package static func table(_ place: Int) -> String { "mc_text_list(?\(place))" }

    /// Calls `body` with the core's form of the list.
    fileprivate func with<R>(_ body: (UnsafePointer<mc_text_list>) throws -> R) throws -> R {
        try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe places.withUnsafeBufferPointer { places in
                try unsafe numbers.withUnsafeBufferPointer { numbers in
                    let list = unsafe mc_text_list(
                        count: places.count, bytes: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length: bytes.count,
                        places: places.baseAddress, numbers: numbers.baseAddress)
                    return try unsafe withUnsafePointer(to: list) { try unsafe body($0) }
                }
            }
        }
    }
}

extension Statement {
    /// Sets a parameter to a list while `body` runs the statement. Afterwards the parameter is NULL, and the statement is reset.
    /// - Throws: ``StoreError/Code/misuse``: there is no such parameter; and the errors of `body`.
    package func with<R>(_ list: TextList, at index: Int, _ body: () throws -> R) throws -> R {
        let handle = unsafe mc_statement_sqlite(try core())
        return try unsafe list.with { list in
            try unsafe StoreError.check { unsafe mc_text_list_bind(list, handle, Int32(clamping: index), $0) }
            defer {
                // A statement whose connection has ended meanwhile was returned, and has no parameters any more.
                reset()
                try? bind(.null, at: index)
            }
            return try body()
        }
    }
}
