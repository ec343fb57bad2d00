extension Query {
    /// Items separated by commas: `c.name, MAX(o.total) as largest`. Adds to those that are selected already. SMP 2.3: `select:`.
    public func select(_ items: String) -> Query { select(ItemText.list(items).map(ItemText.selectItem)) }

    /// Adds items. SMP 2.3: `selectItems`.
    public func select(_ items: [SelectItem]) -> Query { changed { $0.selectItems += items } }

    /// The rows of an object, by its modelled name. SMP 2.3: `from:`.
    public func from(_ entity: String, _ alias: String? = nil) -> Query { changed { $0.source = .entity(entity, alias: alias) } }

    /// The rows that another query gives. SMP 2.3: `fromQuery:`.
    public func from(_ query: Query, _ alias: String) -> Query { changed { $0.source = .query(query, alias: alias) } }

    /// Joins the rows of another object where two items are equal. SMP 2.3: `join:`.
    public func join(_ entity: String, _ alias: String? = nil, _ leftItem: String, _ rightItem: String, type: JoinType = .inner) -> Query {
        join(JoinCondition(entity, alias, leftItem, rightItem, type: type))
    }

    /// Joins the rows of another object. SMP 1.5.3: `joinCriteria`.
    public func join(_ condition: JoinCondition) -> Query { changed { $0.joinCriteria.append(condition) } }

    /// Rows that pass this test as well as those that were given before. SMP 2.3: `where:`.
    public func `where`(_ test: TestCriteria) -> Query { changed { $0.testCriteria = $0.testCriteria.map { $0 && test } ?? test } }

    /// Rows whose object is in one of these states. SMP 2.3: object state criteria.
    public func filter(_ states: EntityFilter) -> Query { changed { $0.entityFilter = states } }

    /// Items separated by commas: `c.city, c.region`. Adds to those that are grouped by already. SMP 2.3: `groupBy:`.
    public func groupBy(_ items: String) -> Query { changed { $0.groupItems += ItemText.list(items) } }

    /// Groups that pass this test as well as those that were given before; its items are aggregates or grouped by. SMP 2.3: `having:`.
    public func having(_ test: TestCriteria) -> Query { changed { $0.havingCriteria = $0.havingCriteria.map { $0 && test } ?? test } }

    /// Sorts by these, the first one foremost, behind those that were given before. SMP 2.3: `SUPSortCriteria`.
    public func sorted(by order: AttributeSort...) -> Query { changed { $0.sortCriteria += order } }

    /// Leaves out the first rows. SMP 2.3: `skip`.
    public func skip(_ count: Int) -> Query { changed { $0.skip = count } }

    /// Returns not more than so many rows; a negative number means all. SMP 2.3: `take`.
    public func take(_ count: Int) -> Query { changed { $0.take = count } }

    /// Returns equal rows once. SMP 2.3: `DISTINCT`.
    public func distinct() -> Query { changed { $0.isDistinct = true } }

    /// Reads the objects of a relationship along with those that are found: a list that is shown with its children costs two statements,
    /// whatever its length. Several names go on from one relationship to the next.
    public func prefetching(_ relationships: String...) -> Query { changed { $0.prefetches.append(relationships) } }

    /// The rows of both queries, equal ones once. SMP 2.3: `union:`.
    public func union(_ other: Query) -> Query { combined(.union, other) }

    /// The rows of both queries. SMP 2.3: `unionAll:`.
    public func unionAll(_ other: Query) -> Query { combined(.unionAll, other) }

    /// The rows of this query that are not among those of the other, equal ones once. SMP 2.3: `except:`.
    public func except(_ other: Query) -> Query { combined(.except, other) }

    /// The rows that both queries give, equal ones once. SMP 2.3: `intersect:`.
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
