// swift-tools-version: 6.2
// The fuzz targets of the modules in Swift. They are a separate package, because all their modules are built with the fuzzer's counters, and one package,
// because each module is built once for all of them; ../CoreFuzz/run builds and runs them.

import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault")]

/// A target with its sources in a folder of its own, and the library that ../CoreFuzz/run links with the fuzzer's `main`.
func product(_ name: String) -> Product { .library(name: name, type: .static, targets: [name]) }
func module(_ name: String) -> Target.Dependency { .product(name: name, package: "MobileObjects") }

let package = Package(
    name: "SwiftFuzz",
    platforms: [.macOS(.v26)],
    products: [product("ServerFuzz"), product("WorklightFuzz"), product("RhoConnectFuzz"), product("FacesFuzz")],
    dependencies: [.package(name: "MobileObjects", path: "../..")],
    targets: [
        .target(name: "CLibFuzzer", path: "CLibFuzzer"),
        .target(
            name: "ServerFuzz", dependencies: ["CLibFuzzer", module("MobileServer"), module("MobileStore")], path: "Server/Sources",
            swiftSettings: settings),
        .target(name: "WorklightFuzz", dependencies: [module("WorklightClient")], path: "Worklight/Sources", swiftSettings: settings),
        .target(name: "RhoConnectFuzz", dependencies: [module("RhoConnectClient")], path: "RhoConnect/Sources", swiftSettings: settings),
        .target(
            name: "FacesFuzz",
            dependencies: [module("MobileServerRhoConnect"), module("MobileServerWorklight"), module("MobileServer"), module("MobileStore")],
            path: "Faces/Sources", swiftSettings: settings),
    ],
    cLanguageStandard: .c17
)
