/// A database of the enterprise. Its location may be overridden at deployment.
public struct BackEndModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// The database system.
    public var kind: Kind
    /// Path of the SQLite file, relative to the model's file, or address of the PostgreSQL database; nil if the deployment sets it.
    public var path: String?
    /// Whether operations may be repeated without harm; no table of processed operations is then kept there. Default false.
    public var isIdempotent: Bool
    /// The supported database systems. SQLite is the embedded default. It is a hint for readers: the place at deployment decides.
    public enum Kind: String, Sendable, Equatable, CaseIterable { case sqlite, postgresql }
    /// Creates a back end with these values; omitted ones have the defaults of the format.
    public init(name: String, kind: Kind = .sqlite, path: String? = nil, isIdempotent: Bool = false) {
        self.name = name
        self.kind = kind
        self.path = path
        self.isIdempotent = isIdempotent
    }
}

/// The rules by which the server reads and changes an object's rows in its back end.
public struct BackEndBinding: Sendable, Equatable {
    /// Name of the back end in the model.
    public var backEnd: String
    /// The table that create, update and delete work on; any name that SQL allows.
    public var table: String
    /// Columns of attributes whose column has another name; any name that SQL allows.
    public var columns: [String: String]
    /// A SELECT whose result columns have the names of the attributes' columns; `:name` is a synchronization parameter. Nil: the whole table.
    public var load: String?
    /// The way the server finds changed rows. Default digest.
    public var changeDetection: ChangeDetection
    /// The ways to find changed rows.
    public enum ChangeDetection: Sendable, Equatable {
        /// Sums over the rows show where they have changed; few rows are loaded and compared.
        case digest
        /// A column of the load or the table, whose value grows with each change of a row. The server's article "Back ends" has the rules for it.
        case versionColumn(String)
        /// Triggers of the back end write the keys of changed rows of ``BackEndBinding/table`` into a log. `tables`: the other tables that
        /// ``BackEndBinding/load`` reads; a change there loads all rows. Apart from them, a row of the load depends on the table's row with its key only.
        case triggerLog(tables: [String])
    }
    /// Creates a binding with these values; omitted ones have the defaults of the format.
    public init(
        backEnd: String, table: String, columns: [String: String] = [:], load: String? = nil, changeDetection: ChangeDetection = .digest
    ) {
        self.backEnd = backEnd
        self.table = table
        self.columns = columns
        self.load = load
        self.changeDetection = changeDetection
    }

    /// The column of an attribute: its own name unless ``columns`` contains another one.
    public func column(of attribute: String) -> String { columns[attribute] ?? attribute }
}
