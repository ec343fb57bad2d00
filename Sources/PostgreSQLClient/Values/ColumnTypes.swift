/// The object identifiers of the types that this module knows, as in `pg_type`. They are part of the protocol and never change.
enum TypeID {
    static let bool: UInt32 = 16, bytea: UInt32 = 17, name: UInt32 = 19, int8: UInt32 = 20, int2: UInt32 = 21, int4: UInt32 = 23
    static let text: UInt32 = 25, oid: UInt32 = 26, float4: UInt32 = 700, float8: UInt32 = 701, unknown: UInt32 = 705
    static let bpchar: UInt32 = 1042, varchar: UInt32 = 1043, void: UInt32 = 2278

    /// The types whose binary format is read here. The protocol knows one format per result, so one other column makes the result text.
    private static let binary: Set<UInt32> = [bool, bytea, name, int8, int2, int4, text, oid, float4, float8, unknown, bpchar, varchar, void]

    /// The format of results with these columns: binary saves the server the digits, and half the bytes of a `bytea`.
    static func format(of columns: [UInt32]) -> Int32 { columns.allSatisfy(binary.contains) ? 1 : 0 }
}
