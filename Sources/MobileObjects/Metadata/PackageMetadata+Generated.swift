import MobileModel

extension PackageMetadata {
    /// The metadata of a generated database class, from the model that the generator wrote into the program.
    ///
    /// The generator has checked the model, so it fails only where somebody edited the generated code: that stops the program.
    public convenience init(generatedFrom json: String) {
        do {
            try self.init(PackageModel(json: json, file: "generated model"))
        } catch {
            preconditionFailure("the model in the generated code is not valid: \(error)")
        }
    }
}
