/// The sentence about a server and an application that have different models of one name and version, so that neither is simply too old.
package enum ModelDifference {
    /// - Parameter package: name and version, such as `CRM:1.0`.
    package static func text(_ package: String) -> String {
        "the server's model of \(package) differs from the application's: serve the application's model, or give the newer model another version"
    }
}
