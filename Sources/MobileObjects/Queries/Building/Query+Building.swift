extension Query {
    /// Selects items separated by commas: `c.name, MAX(o.total) as largest`. Adds to those that are selected already. SMP 2.3: `select:`.
    ///
    ///     let query = Query().select("name, creditLimit").from("Customer")
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
    public func select(_ items: String) -> Query { select(ItemText.list(items).map(ItemText.selectItem)) }

    /// Adds items. SMP 2.3: `selectItems`.
    ///
    ///     let items = [SelectItem("city"), SelectItem("COUNT(*)", as: "number")]
    ///     let query = Query().select(items).from("Customer").groupBy("city")
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].long())") }
    public func select(_ items: [SelectItem]) -> Query { changed { $0.selectItems += items } }

    /// Selects from the rows of an object, by its modelled name. SMP 2.3: `from:`.
    ///
    ///     let query = Query().select("c.name").from("Customer", "c").where(.equal("c.city", "Cork"))
    ///     let names = try crm.executeQuery(query).map { try $0[0].string() }
    public func from(_ entity: String, _ alias: String? = nil) -> Query { changed { $0.source = .entity(entity, alias: alias) } }

    /// Selects from the rows of another query. SMP 2.3: `fromQuery:`.
    ///
    ///     let sums = Query().select("o.customerId, SUM(o.total) as sum").from("SalesOrder", "o").groupBy("o.customerId")
    ///     let largest = try crm.executeQuery(Query().select("MAX(t.sum)").from(sums, "t"))
    public func from(_ query: Query, _ alias: String) -> Query { changed { $0.source = .query(query, alias: alias) } }

    /// Joins the rows of another object where two items are equal. SMP 2.3: `join:`.
    ///
    ///     let query = Query().select("c.name, o.total").from("Customer", "c").join("SalesOrder", "o", "o.customerId", "c.id")
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
    public func join(_ entity: String, _ alias: String? = nil, _ leftItem: String, _ rightItem: String, type: JoinType = .inner) -> Query {
        join(JoinCondition(entity, alias, leftItem, rightItem, type: type))
    }

    /// Joins the rows of another object. SMP 1.5.3: `joinCriteria`.
    ///
    ///     let orders = JoinCondition("SalesOrder", "o", "o.customerId", "c.id", type: .left)
    ///     let query = Query().select("c.name, o.status").from("Customer", "c").join(orders).where(.isNull("o.status"))
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()) has no order") }
    public func join(_ condition: JoinCondition) -> Query { changed { $0.joinCriteria.append(condition) } }

    /// Keeps only rows that also pass this test, in addition to the previous ones. SMP 2.3: `where:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork")).where(.greaterThan("creditLimit", 1000))
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
    public func `where`(_ test: TestCriteria) -> Query { changed { $0.testCriteria = $0.testCriteria.map { $0 && test } ?? test } }

    /// Keeps only rows whose object is in one of these states. SMP 2.3: object state criteria.
    ///
    ///     let query = Query().filter([.created, .updated])
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print("\(customer.name) is to be submitted") }
    public func filter(_ states: EntityFilter) -> Query { changed { $0.entityFilter = states } }

    /// Groups by items separated by commas: `c.city, c.region`. Adds to those that are grouped by already. SMP 2.3: `groupBy:`.
    ///
    ///     let query = Query().select("city, MAX(creditLimit)").from("Customer").groupBy("city")
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
    public func groupBy(_ items: String) -> Query { changed { $0.groupItems += ItemText.list(items) } }

    /// Keeps only groups that also pass this test, in addition to the previous ones. Its items are aggregates or grouped by. SMP 2.3: `having:`.
    ///
    ///     let query = Query().select("city").from("Customer").groupBy("city").having(.greaterThan("COUNT(*)", 1))
    ///     let cities = try crm.executeQuery(query).map { try $0[0].string() }
    public func having(_ test: TestCriteria) -> Query { changed { $0.havingCriteria = $0.havingCriteria.map { $0 && test } ?? test } }

    /// Sorts by these attributes, the first one foremost, after those that were given before. SMP 2.3: `SUPSortCriteria`.
    ///
    ///     let query = Query().sorted(by: .ascending("city"), .descending("creditLimit"))
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print("\(customer.city): \(customer.name)") }
    public func sorted(by order: AttributeSort...) -> Query { changed { $0.sortCriteria += order } }

    /// Leaves out the first `count` rows. SMP 2.3: `skip`.
    ///
    ///     let second = Query().sorted(by: .ascending("name")).skip(2).take(2)  // the second two customers
    ///     for customer in try Customer.findWithQuery(second, in: crm) { print(customer.name) }
    public func skip(_ count: Int) -> Query { changed { $0.skip = count } }

    /// Returns at most `count` rows; a negative number means all. SMP 2.3: `take`.
    ///
    ///     let query = Query().sorted(by: .descending("creditLimit")).take(1)
    ///     let largest = try Customer.findWithQuery(query, in: crm).first
    public func take(_ count: Int) -> Query { changed { $0.take = count } }

    /// Returns equal rows once. SMP 2.3: `DISTINCT`.
    ///
    ///     let query = Query().select("city").from("Customer").distinct()
    ///     let cities = try crm.executeQuery(query).map { try $0[0].string() }
    public func distinct() -> Query { changed { $0.isDistinct = true } }

    /// Reads the objects of a relationship along with those that are found: a list that is shown with its children costs two statements, regardless
    /// of its length. Several names continue from one relationship to the next.
    ///
    ///     let query = Query().where(.equal("city", "Dublin")).prefetching("orders", "lines")
    ///     for customer in try Customer.findWithQuery(query, in: crm) {
    ///         for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
    ///     }
    public func prefetching(_ relationships: String...) -> Query { changed { $0.prefetches.append(relationships) } }

    /// Returns the rows of both queries, equal ones once. SMP 2.3: `union:`.
    ///
    ///     let inCork = Query().select("name").from("Customer").where(.equal("city", "Cork"))
    ///     let large = Query().select("name").from("Customer").where(.greaterThan("creditLimit", 1000))
    ///     let either = try crm.executeQuery(inCork.union(large)).map { try $0[0].string() }
    public func union(_ other: Query) -> Query { combined(.union, other) }

    /// Returns the rows of both queries. SMP 2.3: `unionAll:`.
    ///
    ///     let customers = Query().select("name").from("Customer")
    ///     let products = Query().select("name").from("Product")
    ///     let names = try crm.executeQuery(customers.unionAll(products)).map { try $0[0].string() }
    public func unionAll(_ other: Query) -> Query { combined(.unionAll, other) }

    /// Returns the rows of this query that are not among those of the other, equal ones once. SMP 2.3: `except:`.
    ///
    ///     let all = Query().select("id").from("Customer")
    ///     let buyers = Query().select("customerId").from("SalesOrder")
    ///     let others = try crm.executeQuery(all.except(buyers)).map { try $0[0].long() }
    public func except(_ other: Query) -> Query { combined(.except, other) }

    /// Returns the rows that both queries return, equal ones once. SMP 2.3: `intersect:`.
    ///
    ///     let inCork = Query().select("name").from("Customer").where(.equal("city", "Cork"))
    ///     let large = Query().select("name").from("Customer").where(.greaterThan("creditLimit", 1000))
    ///     let both = try crm.executeQuery(inCork.intersect(large)).map { try $0[0].string() }
    public func intersect(_ other: Query) -> Query { combined(.intersect, other) }

    private func combined(_ combination: QueryCombination, _ other: Query) -> Query {
        var query = Query()
        query.source = .combination(combination, self, other)
        return query
    }

    func changed(_ change: (inout Query) -> Void) -> Query {
        var query = self
        change(&query)
        return query
    }
}
