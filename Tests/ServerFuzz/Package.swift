// swift-tools-version: 6.2
// The fuzz target of the server. It is a separate package, because all its modules are built with the fuzzer's counters; ../CoreFuzz/run builds
// and runs it.

import PackageDescription

let package = Package(
    name: "ServerFuzz",
    platforms: [.macOS(.v26)],
    products: [.library(name: "ServerFuzz", type: .static, targets: ["ServerFuzz"])],
    dependencies: [.package(name: "MobileObjects", path: "../..")],
    targets: [
        .target(name: "CLibFuzzer", path: "CLibFuzzer"),
        .target(
            name: "ServerFuzz",
            dependencies: [
                "CLibFuzzer", .product(name: "MobileServer", package: "MobileObjects"), .product(name: "MobileStore", package: "MobileObjects"),
            ],
            path: "Sources",
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault")]),
    ],
    cLanguageStandard: .c17
)
