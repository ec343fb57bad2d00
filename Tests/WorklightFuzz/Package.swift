// swift-tools-version: 6.2
// The fuzz target of the Worklight client. It is a separate package, because all its modules are built with the fuzzer's counters; ../CoreFuzz/run
// builds and runs it.

import PackageDescription

let package = Package(
    name: "WorklightFuzz",
    platforms: [.macOS(.v26)],
    products: [.library(name: "WorklightFuzz", type: .static, targets: ["WorklightFuzz"])],
    dependencies: [.package(name: "MobileObjects", path: "../..")],
    targets: [
        .target(
            name: "WorklightFuzz",
            dependencies: [.product(name: "WorklightClient", package: "MobileObjects")],
            path: "Sources",
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault")])
    ],
    cLanguageStandard: .c17
)
