import Foundation
import MobileModel
public import MobileStore

extension PackageMetadata {
    /// The metadata that a package's database keeps of itself: for tools that have the file and neither model nor generated classes.
    /// SMP 2.3 keeps them in a table, too. Where a newer model cannot open a database that still has work for the server, this is the model that
    /// can: see <doc:Upgrades>.
    /// - Parameter profile: path and settings of the database file; it must be there.
    /// - Throws: ``ObjectError/Code/noDatabase`` where there is no such file, ``ObjectError/Code/version`` where it is no database of a package,
    ///   ``ObjectError/Code/corrupt`` where what it keeps is no model, ``ObjectError/Code/store``.
    public convenience init(storedIn profile: ConnectionProfile) throws {
        guard FileManager.default.fileExists(atPath: profile.path) else {
            throw ObjectError(.noDatabase, "\"\(profile.path)\": there is no such file")
        }
        let text = try ObjectError.gate {
            let store = try Database(profile)
            defer { try? store.close() }
            return try store.read { connection -> String? in
                let table = try connection.first("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_settings'")
                return try table == nil ? nil : PackageSettings(connection).text(.model)
            }
        }
        guard let text else { throw ObjectError(.version, "\"\(profile.path)\": the database keeps no model of a package") }
        let model: PackageModel
        do { model = try PackageModel(storedJSON: text) } catch {
            throw ObjectError(.corrupt, "\"\(profile.path)\": the model that the database keeps is not valid", cause: error)
        }
        try self.init(model)
    }
}
