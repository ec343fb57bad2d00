extension PackageModel {
    /// The JSON Schema (draft 7) of model files: editors complete and check a model that names it under `$schema`. It knows the form of
    /// a model; what names mean is checked when the model is read.
    public static var schema: String { String(decoding: PackageResources.mbo_schema_json, as: UTF8.self) }
}
