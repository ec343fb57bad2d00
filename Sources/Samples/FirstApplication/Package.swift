// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Shop",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "MobileObjects", path: "../mobileobjects")],
    targets: [
        .executableTarget(
            name: "Shop",
            dependencies: [
                .product(name: "MobileObjects", package: "MobileObjects"), .product(name: "MobileSync", package: "MobileObjects"),
                .product(name: "MobileStore", package: "MobileObjects"),
            ],
            plugins: [.plugin(name: "MobileGenPlugin", package: "MobileObjects")])
    ]
)
