/// The database system of a world.
package enum DatabaseEngine: String, Codable, CaseIterable, Sendable {
    case sqlite, postgreSQL
}
