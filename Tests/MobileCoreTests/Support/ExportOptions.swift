import MobileCore

extension mc_export_options {
    /// Options without conversions, sums and limits.
    init(
        columns: UnsafePointer<mc_column>?, column_count: Int, format: mc_export_format, deflate_level: Int32,
        large: UnsafePointer<mc_export_large>?, pool: OpaquePointer?
    ) {
        self.init(
            columns: columns, column_count: column_count, format: format, deflate_level: deflate_level, large: large, pool: pool, exact: nil,
            conversions: nil, sums: nil, summed_first: 0, summed_count: 0, limits: nil)
    }
}
