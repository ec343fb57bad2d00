public import Foundation

/// Files that tests read.
public enum Repository {
    /// The folder with `Package.swift`.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    /// A file or a folder by its path from ``root``.
    public static func file(_ path: String) -> URL { root.appending(path: path) }

    /// A file or a folder by its path from `Tests/Fixtures`.
    public static func fixture(_ path: String) -> URL { file("Tests/Fixtures").appending(path: path) }
}

/// The modules that this program was built with.
public enum BuiltModules {
    /// Options of `swiftc` for a file that imports them: their folder, and the maps of the modules of C that they import without showing them.
    public static var options: [String] {
        // Next to the program: `make worlds` builds for release.
        let build = Program.built("Modules").deletingLastPathComponent()
        let ours = ["MobileCore", "CMobileCrypto", "CMobileTransport"].map { build.appending(path: "\($0).build/module.modulemap").path }
        let systems = ["MobileZlib", "MobileJansson", "MobileSQLite", "MobileCURL", "MobileOpenSSL"].map {
            Repository.file("CSupport/\($0)/module.modulemap").path
        }
        return ["-I", build.appending(path: "Modules").path] + (ours + systems).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
}

/// The Northwind sample database. Its model is a fixture; its contents are next to the repository, and tests that need them are skipped when
/// they are missing.
public enum Northwind {
    /// The model of its package.
    public static let model = Repository.fixture("northwind.mbo.json")
    /// The SQL that makes the database.
    public static let script = Repository.file("../shared/data/northwind.sql").standardizedFileURL
    /// Whether ``script`` is there.
    public static var isThere: Bool { FileManager.default.fileExists(atPath: script.path) }
    /// Why a test is skipped without it.
    public static let reason: String = "needs ../shared/data/northwind.sql next to the repository"
}
