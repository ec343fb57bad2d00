// swift-tools-version: 6.2
// The fuzz target of the RhoConnect client. It is a separate package, because all its modules are built with the fuzzer's counters; ../CoreFuzz/run
// builds and runs it.

import PackageDescription

let package = Package(
    name: "RhoConnectFuzz",
    platforms: [.macOS(.v26)],
    products: [.library(name: "RhoConnectFuzz", type: .static, targets: ["RhoConnectFuzz"])],
    dependencies: [.package(name: "MobileObjects", path: "../..")],
    targets: [
        .target(
            name: "RhoConnectFuzz",
            dependencies: [.product(name: "RhoConnectClient", package: "MobileObjects")],
            path: "Sources",
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault")])
    ],
    cLanguageStandard: .c17
)
