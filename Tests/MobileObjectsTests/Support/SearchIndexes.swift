import MobileObjects
import MobileStore
import Testing

extension PackageDatabase {
    /// Checks that each index of words has exactly the words of the object's rows: with FTS5's own check, which reads all rows, with the number of indexed
    /// rows, and with a search for each distinct text.
    func checkSearchIndexes(_ place: Comment? = nil, at location: SourceLocation = #_sourceLocation) throws {
        for entity in metadata.entities {
            let searchable = entity.attributes.filter(\.isSearchable)
            guard !searchable.isEmpty else { continue }
            let index = "\"_search:\(entity.name)\""
            let table = "\"\(entity.table)\""
            let damage: StoreError? = try store.write(label: "check") { connection in
                do throws(StoreError) { try connection.execute("INSERT INTO \(index) (\(index), rank) VALUES ('integrity-check', 1)") } catch {
                    return error
                }
                return nil
            }
            #expect(damage == nil, place, sourceLocation: location)
            try store.read { connection in
                let indexed = try connection.number("SELECT count(*) FROM \"_search:\(entity.name)_docsize\"")
                let rows = try connection.number("SELECT count(*) FROM \(table)"),
                    notes = try connection.number("SELECT count(*) FROM \"_search:\(entity.name):notes\"")
                #expect(indexed == rows && notes == 0, place, sourceLocation: location)
                for (column, attribute) in searchable.enumerated() {
                    let texts = try connection.rows("SELECT DISTINCT \"\(attribute.name)\" FROM \(table) WHERE \"\(attribute.name)\" <> ''")
                    for text in texts {
                        // Texts of these tests are single words.
                        let found = try connection.rows(
                            "SELECT rowid FROM \(index) WHERE \(index) MATCH ?1 ORDER BY rowid", [.text("c\(column) : \"\(text[0].text ?? "")\"")])
                        let equal = try connection.rows("SELECT _sk FROM \(table) WHERE \"\(attribute.name)\" = ?1 ORDER BY _sk", text)
                        #expect(found == equal, place, sourceLocation: location)
                    }
                }
            }
        }
    }
}
