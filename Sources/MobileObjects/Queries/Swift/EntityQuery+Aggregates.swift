import Foundation

/// Values that the database makes of an attribute of all objects that a query finds.
extension EntityQuery {
    /// Returns the least value of an attribute, by the database; nil without objects that have a value. Order, `skip` and `take` have no effect.
    ///
    ///     let inCork = Customer.where(\.city == "Cork")
    ///     let lowest = try inCork.min(of: \.creditLimit, in: crm)
    ///
    /// - Throws: as `find(in:)`; ``ObjectError/Code/unsupportedType`` for an attribute without order.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func min<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("MIN", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func min<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("MIN", column)).onlyValue() }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func min<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("MIN", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func min<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("MIN", column)).onlyValue() }

    /// Returns the greatest value of an attribute, by the database; nil without objects that have a value. Order, `skip` and `take` have no effect.
    ///
    ///     let inCork = Customer.where(\.city == "Cork")
    ///     let highest = try inCork.max(of: \.creditLimit, in: crm)
    ///
    /// - Throws: as `min(of:in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func max<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("MAX", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func max<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("MAX", column)).onlyValue() }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func max<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("MAX", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func max<Value: AttributeConvertible & Comparable>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("MAX", column)).onlyValue() }

    /// Returns the sum of an attribute's values, by the database and exact for decimals; nil without objects that have a value. Order, `skip` and
    /// `take` have no effect.
    ///
    ///     let inCork = Customer.where(\.city == "Cork")
    ///     let total = try inCork.sum(of: \.creditLimit, in: crm) ?? 0
    ///
    /// - Throws: as `find(in:)`; ``ObjectError/Code/unsupportedType`` for an attribute that is not a number, ``ObjectError/Code/invalidDataType`` for a
    ///   sum that its type cannot hold.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func sum<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("SUM", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func sum<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("SUM", column)).onlyValue() }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func sum<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) throws -> Value? { try package.executeQuery(aggregate("SUM", column)).onlyValue() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func sum<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) async throws -> Value? { try await package.executeQuery(aggregate("SUM", column)).onlyValue() }

    /// Returns the average of an attribute's values, by the database; nil without objects that have a value. Order, `skip` and `take` have no effect.
    ///
    ///     let inCork = Customer.where(\.city == "Cork")
    ///     let average = try inCork.average(of: \.creditLimit, in: crm) ?? 0
    ///
    /// - Throws: as `find(in:)`; ``ObjectError/Code/unsupportedType`` for an attribute that is not a number.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func average<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) throws -> Double? { try package.executeQuery(aggregate("AVG", column)).average() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func average<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value>>, in package: Root.Package
    ) async throws -> Double? { try await package.executeQuery(aggregate("AVG", column)).average() }

    /// The same of an attribute that may be null; nulls do not count.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func average<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) throws -> Double? { try package.executeQuery(aggregate("AVG", column)).average() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func average<Value: AttributeConvertible & Numeric>(
        of column: KeyPath<Root.Columns, Column<Root, Value?>>, in package: Root.Package
    ) async throws -> Double? { try await package.executeQuery(aggregate("AVG", column)).average() }

    private func aggregate<Value>(_ function: String, _ column: KeyPath<Root.Columns, Column<Root, Value>>) -> Query {
        var query = query
        (query.sortCriteria, query.skip, query.take, query.prefetches) = ([], 0, -1, [])
        return query.select("\(function)(\(Root.columns[keyPath: column].name))").from(Root.metadata.name)
    }
}

extension QueryResultSet {
    /// Returns the one value of a result with one row; nil where it is null.
    fileprivate func onlyValue<Value: AttributeConvertible>() throws -> Value? {
        guard let row = first, case let value = row[0], !value.isNull else { return nil }
        return try value.read()
    }

    /// Returns the average of a result with one row, which is a decimal for decimals of many digits; nil where it is null.
    fileprivate func average() throws -> Double? {
        guard let row = first else { return nil }
        if case .decimal(let exact) = row[0] { return Double(truncating: exact as NSDecimalNumber) }
        return try onlyValue()
    }
}
