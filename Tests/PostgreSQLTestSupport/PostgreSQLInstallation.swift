package import Foundation

/// PostgreSQL's programs on this machine.
package enum PostgreSQLInstallation {
    /// The folder with `initdb` and `pg_ctl`: that of Debian's package with the highest version, or one in `PATH`; nil without them.
    package static let programs: URL? = {
        let files = FileManager.default, debian = URL(filePath: "/usr/lib/postgresql")
        let versions = (try? files.contentsOfDirectory(atPath: debian.path)) ?? []
        let packaged = versions.sorted { (Double($0) ?? 0) > (Double($1) ?? 0) }.map { debian.appending(path: "\($0)/bin") }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { URL(filePath: String($0)) }
        return (packaged + path).first { folder in
            ["initdb", "pg_ctl", "postgres"].allSatisfy { files.isExecutableFile(atPath: folder.appending(path: $0).path) }
        }
    }()

    /// Whether tests with PostgreSQL run: where it is installed, and where they must run (`CI` or `REQUIRE_POSTGRESQL=1` in the environment). There they fail
    /// without it.
    package static var runsTests: Bool { programs != nil || isRequired }

    /// The reason for skipped tests.
    package static let isMissing = "PostgreSQL is not installed; install Debian's package postgresql, or its programs in PATH"

    private static var isRequired: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["CI"] != nil || environment["REQUIRE_POSTGRESQL"] == "1"
    }
}
