/// Values that the database makes of an attribute of all objects of a set. Order, `offset` and `limit` have no effect.
extension EntitySet {
    /// Returns the least value of an attribute; nil without objects that have a value.
    ///
    ///     let inCork = crm.customers.where(\.city == "Cork")
    ///     let lowest = try inCork.min(of: \.creditLimit)
    ///
    /// - Throws: as `EntityQuery.min(of:in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func min<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value>>) throws -> Value? {
        try query.min(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func min<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value>>)
        async throws -> Value?
    {
        try await query.min(of: column, in: package)
    }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func min<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value?>>) throws -> Value? {
        try query.min(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func min<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value?>>)
        async throws -> Value?
    {
        try await query.min(of: column, in: package)
    }

    /// Returns the greatest value of an attribute; nil without objects that have a value.
    ///
    ///     let inCork = crm.customers.where(\.city == "Cork")
    ///     let highest = try inCork.max(of: \.creditLimit)
    ///
    /// - Throws: as `EntityQuery.max(of:in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func max<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value>>) throws -> Value? {
        try query.max(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func max<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value>>)
        async throws -> Value?
    {
        try await query.max(of: column, in: package)
    }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func max<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value?>>) throws -> Value? {
        try query.max(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func max<Value: AttributeConvertible & Comparable>(of column: KeyPath<Root.Columns, Column<Root, Value?>>)
        async throws -> Value?
    {
        try await query.max(of: column, in: package)
    }

    /// Returns the sum of an attribute's values, exact for decimals; nil without objects that have a value.
    ///
    ///     let inCork = crm.customers.where(\.city == "Cork")
    ///     let total = try inCork.sum(of: \.creditLimit) ?? 0
    ///
    /// - Throws: as `EntityQuery.sum(of:in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func sum<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value>>) throws -> Value? {
        try query.sum(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func sum<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value>>) async throws
        -> Value?
    {
        try await query.sum(of: column, in: package)
    }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func sum<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value?>>) throws -> Value? {
        try query.sum(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func sum<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value?>>)
        async throws -> Value?
    {
        try await query.sum(of: column, in: package)
    }

    /// Returns the average of an attribute's values; nil without objects that have a value.
    ///
    ///     let inCork = crm.customers.where(\.city == "Cork")
    ///     let average = try inCork.average(of: \.creditLimit) ?? 0
    ///
    /// - Throws: as `EntityQuery.average(of:in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func average<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value>>) throws -> Double? {
        try query.average(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func average<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value>>)
        async throws -> Double?
    {
        try await query.average(of: column, in: package)
    }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func average<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value?>>) throws -> Double? {
        try query.average(of: column, in: package)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func average<Value: AttributeConvertible & Numeric>(of column: KeyPath<Root.Columns, Column<Root, Value?>>)
        async throws -> Double?
    {
        try await query.average(of: column, in: package)
    }
}
