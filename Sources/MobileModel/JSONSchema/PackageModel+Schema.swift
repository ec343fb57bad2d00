extension PackageModel {
    /// The JSON Schema (draft 7) of model files: editors complete and check a model that names it under `$schema`. It covers the form of a
    /// model; reading the model checks the meaning of names.
    public static var schema: String { String(decoding: PackageResources.mbo_schema_json, as: UTF8.self) }
}
