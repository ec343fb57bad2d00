// swift-tools-version: 6.2
// MobileObjects: an offline-first object platform. The layers and what each may use are in README.md, "Contents".

import PackageDescription

/// The Swift settings of every module: Swift 6 language mode comes with the tools version.
let swift: [SwiftSetting] = [.enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault")]

/// The settings of `MobileStore` and `PostgreSQLClient`, which wrap C themselves: each unsafe expression is marked, spans may be returned from properties.
let swiftOverC: [SwiftSetting] = swift + [.strictMemorySafety(), .enableExperimentalFeature("Lifetimes")]

let package = Package(
    name: "MobileObjects",
    platforms: [.macOS(.v26), .iOS(.v26)],
    products: [
        .library(name: "MobileStore", targets: ["MobileStore"]),
        .library(name: "MobileObjects", targets: ["MobileObjects"]),
        .library(name: "MobileSync", targets: ["MobileSync"]),
        .library(name: "MobileVault", targets: ["MobileVault"]),
        .library(name: "RhoConnectClient", targets: ["RhoConnectClient"]),
        .library(name: "WorklightClient", targets: ["WorklightClient"]),
        .library(name: "WorklightCertificates", targets: ["WorklightCertificates"]),
        .library(name: "MobileServer", targets: ["MobileServer"]),
        .library(name: "MobileServerRhoConnect", targets: ["MobileServerRhoConnect"]),
        .library(name: "MobileServerWorklight", targets: ["MobileServerWorklight"]),
        .plugin(name: "MobileGenPlugin", targets: ["MobileGenPlugin"]),
        .executable(name: "mobile", targets: ["mobile"]),
    ],
    targets: [
        // System libraries: a module map each, and at most one shim header.
        .systemLibrary(
            name: "MobileSQLite", path: "CSupport/MobileSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "MobileJansson", path: "CSupport/MobileJansson", pkgConfig: "jansson",
            providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
        .systemLibrary(
            name: "MobileZlib", path: "CSupport/MobileZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "MobileIsal", path: "CSupport/MobileIsal", pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"]), .brew(["isa-l"])]),
        .systemLibrary(
            name: "MobileOpenSSL", path: "CSupport/MobileOpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "MobileCURL", path: "CSupport/MobileCURL", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "MobileMicrohttpd", path: "CSupport/MobileMicrohttpd", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "MobilePostgreSQL", path: "CSupport/MobilePostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

        // C.
        .target(
            name: "MobileCore", dependencies: ["MobileSQLite", "MobileZlib"], path: "CSupport/MobileCore", cSettings: [.headerSearchPath(".")]),
        // For programs in C, which `make install` serves: no module in Swift uses it.
        .target(name: "MobileCoreTrees", dependencies: ["MobileCore", "MobileJansson"], path: "CSupport/MobileCoreTrees", exclude: ["README.md"]),
        .target(name: "CMobileTransport", dependencies: ["MobileCURL"], path: "CSupport/CMobileTransport"),
        .target(name: "CMobileDeflate", dependencies: ["MobileIsal"], path: "CSupport/CMobileDeflate"),
        .target(name: "CMobileCrypto", dependencies: ["MobileOpenSSL"], path: "CSupport/CMobileCrypto"),

        // Below all that waits: threads for work that blocks. It uses none of the others.
        .target(name: "MobileExecution", swiftSettings: swift),

        // Shared by client and server.
        .target(name: "MobileStore", dependencies: ["MobileCore", "MobileSQLite", "MobileZlib", "MobileExecution"], swiftSettings: swiftOverC),
        .target(name: "MobileModel", exclude: ["JSONSchema/mbo.schema.json"], swiftSettings: swift),
        .target(name: "MobileCrypto", dependencies: ["CMobileCrypto"], swiftSettings: swift),
        .target(name: "MobileTransport", dependencies: ["CMobileTransport", "MobileExecution"], swiftSettings: swift),
        .target(name: "MobileProtocol", dependencies: ["MobileStore", "MobileModel"], swiftSettings: swift),

        // The client's frameworks.
        .target(name: "MobileVault", dependencies: ["MobileStore", "MobileCrypto", "MobileExecution"], swiftSettings: swift),
        .target(
            name: "MobileObjects", dependencies: ["MobileStore", "MobileModel", "MobileCrypto", "MobileExecution"], exclude: ["README.md"],
            swiftSettings: swift),
        .target(
            name: "MobileSync",
            dependencies: [
                "MobileObjects", "MobileVault", "MobileProtocol", "MobileTransport", "MobileCrypto", "MobileStore", "MobileModel", "MobileExecution",
            ],
            swiftSettings: swift),

        // Client frameworks of their own, on the core alone.
        .target(name: "RhoConnectClient", dependencies: ["MobileStore", "MobileTransport", "MobileExecution"], swiftSettings: swift),
        .target(name: "WorklightClient", dependencies: ["MobileStore", "MobileTransport", "MobileExecution"], swiftSettings: swift),
        // The client itself links no cryptography.
        .target(name: "WorklightCertificates", dependencies: ["WorklightClient", "MobileVault", "MobileCrypto"], swiftSettings: swift),

        // The server. Its client of PostgreSQL uses no other part of it.
        .target(name: "PostgreSQLClient", dependencies: ["MobilePostgreSQL", "MobileExecution"], swiftSettings: swiftOverC),
        .target(
            name: "MobileServer",
            dependencies: [
                "MobileProtocol", "MobileStore", "MobileModel", "MobileCrypto", "MobileMicrohttpd", "CMobileDeflate", "MobileExecution",
                "PostgreSQLClient",
            ],
            swiftSettings: swift),

        // Faces of the server for the clients of these frameworks.
        .target(
            name: "MobileServerRhoConnect", dependencies: ["MobileServer", "MobileProtocol", "MobileStore", "MobileCrypto", "MobileExecution"],
            swiftSettings: swift),
        .target(
            name: "MobileServerWorklight",
            dependencies: ["MobileServer", "MobileProtocol", "MobileStore", "MobileCrypto", "MobileExecution", "PostgreSQLClient"],
            swiftSettings: swift),

        // Tools.
        .target(name: "MobileGenerator", dependencies: ["MobileModel"], swiftSettings: swift),
        .executableTarget(name: "mobilegen", dependencies: ["MobileGenerator", "MobileModel"], swiftSettings: swift),
        // `mobile generate` and `mobile model` without a terminal. The plugin's tool has none of it.
        .target(name: "MobileModelCommands", dependencies: ["MobileGenerator", "MobileModel"], swiftSettings: swift),
        .plugin(name: "MobileGenPlugin", capability: .buildTool(), dependencies: ["mobilegen"], path: "Sources/MobileGenPlugin"),
        // The classes of the samples and of the benchmarks are in the repository: a target that used the plugin would make every dependent
        // package build the generator twice, also for MobileStore alone. `make classes` writes them, a test compares them with their models.
        .target(
            name: "SampleCRM", dependencies: ["MobileObjects", "MobileStore", "MobileModel"], exclude: ["crm.mbo.json"], swiftSettings: swift),
        .target(
            name: "SampleStore", dependencies: ["RhoConnectClient", "MobileStore", "MobileTransport", "MobileModel"],
            resources: [.embedInCode("store.mbo.json")], swiftSettings: swift),
        .executableTarget(
            name: "mobile",
            dependencies: [
                "MobileSync", "MobileServer", "MobileObjects", "MobileStore", "MobileModel", "MobileModelCommands", "MobileProtocol",
                "MobileTransport", "MobileExecution", "SampleCRM", "WorklightClient", "MobileServerWorklight", "RhoConnectClient",
                "MobileServerRhoConnect", "SampleStore",
            ],
            swiftSettings: swift),
        // The application of the article "Your first application", built here so that a test can run it.
        .executableTarget(
            name: "Shop", dependencies: ["MobileObjects", "MobileSync", "MobileStore"], path: "Sources/Samples",
            exclude: ["records.sql", "FirstApplication/Package.swift", "FirstApplication/Sources/Shop/records.mbo.json"],
            sources: ["FirstApplication/Sources/Shop", "Generated"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "MobileStore", "MobileObjects", "MobileSync", "MobileServer", "MobileExecution", "MobileTransport", "MobileModel", "MobileCrypto",
                "MobileProtocol", "RhoConnectClient", "WorklightClient", "MobileServerWorklight", "BenchmarkReferences", "MobileSQLite",
                "PostgreSQLClient",
                "PostgreSQLTestSupport", "TestSupport",
            ],
            path: "Benchmarks/Benchmarks", exclude: ["benchmark.mbo.json"], swiftSettings: swift),
        .target(
            name: "BenchmarkReferences", dependencies: ["MobileCore", "MobileSQLite", "MobileJansson", "MobileZlib", "MobileCURL"],
            path: "Benchmarks/References"),

        // Tests.
        .target(name: "CTestSupport", dependencies: ["MobileSQLite"], path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "MobileTransport", "MobileServer", "MobileProtocol", "MobileExecution"],
            path: "Tests/TestSupport", exclude: ["README.md"], swiftSettings: swift),
        .target(
            name: "PostgreSQLTestSupport", dependencies: ["PostgreSQLClient", "MobileServer", "MobileExecution", "TestSupport"],
            path: "Tests/PostgreSQLTestSupport", exclude: ["README.md"], swiftSettings: swift),
        // Random worlds of devices, servers and back ends: a library for the suite and for a command.
        .target(
            name: "Worlds",
            dependencies: [
                "MobileSync", "MobileServer", "MobileObjects", "MobileModel", "MobileStore", "MobileTransport", "MobileCrypto", "MobileExecution",
                "TestSupport", "PostgreSQLTestSupport", "PostgreSQLClient", "MobileSQLite", "MobilePostgreSQL",
            ],
            path: "Tests/Worlds", exclude: ["README.md", "Found", "broken-variants"], swiftSettings: swift),
        // Random databases, each from `mobile model` to the changes of a device.
        .target(
            name: "DatabaseWorlds",
            dependencies: [
                "Worlds", "MobileSync", "MobileServer", "MobileObjects", "MobileModel", "MobileGenerator", "MobileStore", "MobileCrypto",
                "MobileExecution",
                "TestSupport", "PostgreSQLTestSupport",
            ],
            path: "Tests/DatabaseWorlds", exclude: ["README.md", "Found"], swiftSettings: swift),
        .executableTarget(
            name: "run-worlds", dependencies: ["Worlds", "DatabaseWorlds", "PostgreSQLTestSupport", "CTestSupport"], path: "Tests/RunWorlds",
            swiftSettings: swift),
        .testTarget(
            name: "WorldsTests", dependencies: ["Worlds", "DatabaseWorlds", "TestSupport", "PostgreSQLTestSupport", "run-worlds", "mobile"],
            swiftSettings: swift),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: swift),
        .target(name: "FaultInjection", dependencies: ["MobileSQLite"], path: "Tests/FaultInjection"),
        .executableTarget(name: "killed-process", dependencies: ["MobileCore"], path: "Tests/KilledProcess"),
        .executableTarget(
            name: "rhoconnect-process",
            dependencies: [
                "RhoConnectClient", "MobileServerRhoConnect", "MobileServer", "MobileCrypto", "MobileStore", "MobileTransport", "MobileExecution",
            ],
            path: "Tests/RhoConnectProcess", swiftSettings: swift),
        .executableTarget(name: "CClient", dependencies: ["MobileCore"], path: "Tests/CClient"),
        .executableTarget(name: "CTrees", dependencies: ["MobileCore", "MobileCoreTrees", "MobileJansson"], path: "Tests/CTrees"),
        .testTarget(
            name: "MobileCoreTests",
            dependencies: [
                "MobileCore", "MobileCoreTrees", "TestSupport", "FaultInjection", "MobileSQLite", "MobileJansson", "MobileExecution",
                "killed-process", "CClient",
                "CTrees",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "MobileToolTests",
            dependencies: [
                "mobile", "MobileSync", "MobileServer", "MobileObjects", "MobileModel", "MobileStore", "MobileTransport", "MobileCrypto", "SampleCRM",
                "WorklightClient", "RhoConnectClient", "MobileServerRhoConnect", "SampleStore", "MobileExecution", "TestSupport",
                "PostgreSQLClient", "PostgreSQLTestSupport", "Shop", "MobileGenerator", "MobileModelCommands", "MobileProtocol",
                "MobileServerWorklight", "MobileVault",
            ],
            swiftSettings: swift),
        .executableTarget(name: "checklist", path: "Tests/Conformance/Checklist", swiftSettings: swift),
        .testTarget(
            name: "ChecklistTests", dependencies: ["checklist", "TestSupport"], path: "Tests/Conformance/ChecklistTests", swiftSettings: swift),
        .testTarget(name: "MobileExecutionTests", dependencies: ["MobileExecution", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileStoreTests",
            dependencies: ["MobileStore", "MobileCore", "MobileZlib", "MobileExecution", "TestSupport", "FaultInjection"], swiftSettings: swift),
        .testTarget(name: "MobileModelTests", dependencies: ["MobileModel", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileGeneratorTests", dependencies: ["MobileGenerator", "MobileModelCommands", "MobileModel", "TestSupport"],
            swiftSettings: swift),
        .testTarget(
            name: "GeneratedCodeTests",
            dependencies: [
                "MobileObjects", "MobileModel", "MobileStore", "MobileSync", "MobileServer", "MobileTransport", "TestSupport", "MobileGenerator",
            ],
            swiftSettings: swift, plugins: ["MobileGenPlugin"]),
        .testTarget(
            name: "SampleCRMTests", dependencies: ["SampleCRM", "MobileObjects", "MobileStore", "MobileModel", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileObjectsTests",
            dependencies: ["MobileObjects", "MobileStore", "MobileExecution", "SampleCRM", "TestSupport", "FaultInjection"],
            swiftSettings: swift),
        .testTarget(
            name: "WorklightClientTests",
            dependencies: [
                "WorklightClient", "WorklightCertificates", "MobileServer", "MobileProtocol", "MobileCrypto", "MobileVault", "MobileStore",
                "MobileTransport", "MobileExecution", "TestSupport",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "MobileServerWorklightTests",
            dependencies: [
                "MobileServerWorklight", "WorklightClient", "WorklightCertificates", "MobileServer", "MobileProtocol", "MobileCrypto", "MobileVault",
                "MobileStore", "MobileTransport", "MobileExecution", "TestSupport", "PostgreSQLClient", "PostgreSQLTestSupport",
            ],
            exclude: ["Hybrid/strict-client.js"], swiftSettings: swift),
        .testTarget(name: "MobileCryptoTests", dependencies: ["MobileCrypto", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileTransportTests",
            dependencies: [
                "MobileTransport", "MobileServer", "MobileCrypto", "MobileProtocol", "TestSupport", "CMobileTransport", "MobileExecution",
                "MobileCore",
            ],
            swiftSettings: swift),
        .testTarget(name: "MobileProtocolTests", dependencies: ["MobileProtocol", "MobileStore", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileServerTests",
            dependencies: [
                "MobileServer", "MobileProtocol", "MobileModel", "MobileStore", "MobileCrypto", "MobileExecution", "SampleCRM", "TestSupport",
                "PostgreSQLClient", "PostgreSQLTestSupport", "MobileSQLite", "MobileZlib", "MobileMicrohttpd",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "PostgreSQLClientTests", dependencies: ["PostgreSQLClient", "PostgreSQLTestSupport", "MobileExecution", "TestSupport"],
            swiftSettings: swift),
        .testTarget(name: "MobileVaultTests", dependencies: ["MobileVault", "MobileCrypto", "MobileStore", "TestSupport"], swiftSettings: swift),
        .testTarget(
            name: "MobileServerRhoConnectTests",
            dependencies: [
                "MobileServerRhoConnect", "RhoConnectClient", "MobileServer", "MobileProtocol", "MobileStore", "MobileTransport", "MobileExecution",
                "MobileCrypto", "MobileModel", "SampleStore", "SampleCRM", "TestSupport", "PostgreSQLTestSupport", "PostgreSQLClient",
                "rhoconnect-process",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "RhoConnectClientTests",
            dependencies: ["RhoConnectClient", "MobileStore", "MobileTransport", "MobileServer", "MobileProtocol", "MobileExecution", "TestSupport"],
            swiftSettings: swift),
        .testTarget(
            name: "MobileSyncTests",
            dependencies: [
                "MobileSync", "MobileServer", "MobileTransport", "TestSupport", "MobileObjects", "MobileModel", "MobileProtocol", "MobileStore",
                "MobileCrypto", "MobileVault", "MobileExecution", "SampleCRM", "PostgreSQLTestSupport", "PostgreSQLClient", "mobile",
            ],
            swiftSettings: swift),
    ],
    cLanguageStandard: .c17
)
