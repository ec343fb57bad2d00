public import MobileStore

/// Large attributes: streams over values that are stored outside of the row. The row takes a new value when the object is saved.
extension Entity {
    /// Returns the stream of a `bigBinary` attribute; the same one each time.
    @_spi(GeneratedCode) public final func bigBinary(_ index: Int) -> BigBinary {
        if let stream = attached.bigBinaries[index] { return stream }
        let stream = BigBinary(of: self, attribute: index)
        attached.bigBinaries[index] = stream
        return stream
    }

    /// Returns the stream of a `bigString` attribute; the same one each time.
    @_spi(GeneratedCode) public final func bigString(_ index: Int) -> BigString {
        if let stream = attached.bigStrings[index] { return stream }
        let stream = BigString(of: self, attribute: index)
        attached.bigStrings[index] = stream
        return stream
    }

    /// Checks that no large attribute is being written.
    /// - Throws: ``ObjectError/Code/store`` with `StoreError.notClosed` as its cause.
    final func requireWrittenLargeValues(_ action: String) throws {
        guard let attachments else { return }
        for attribute in metadata.attributes where attribute.isLarge {
            let stream = attachments.bigBinaries[attribute.index] ?? attachments.bigStrings[attribute.index] as LargeValueStream?
            guard let stream, stream.isOpenForWriting else { continue }
            throw ObjectError(
                StoreError(.notClosed, "\(action) of \(metadata.name): \(attribute.name) is open for writing; call \(attribute.name).close() first"))
        }
    }
}

extension Entity: LargeValueHost {
    /// The database that the object's streams read and write.
    public final var largeValueDatabase: Database {
        get throws { try package.openStore() }
    }

    /// Whether a stream may be opened: the row must exist.
    public final var isSavedForLargeValues: Bool { presence == .stored }

    /// Returns the value that was written and not saved, otherwise the row's.
    /// - Throws: ``ObjectError/Code/notFound`` when the row is gone, because another object has deleted it.
    public final func largeValue(ofAttribute index: Int) throws -> Int64? {
        if let unsaved = attachments?.unsavedLargeValues[index] { return unsaved?.id }
        let metadata = metadata, column = metadata.sql.attributeColumns[index], remembered = rememberedKey
        return try package.read { connection in
            let key = try remembered.current(connection)
            guard let row = try connection.first("SELECT \(column) FROM \(metadata.sql.table) WHERE \"_sk\" = ?1", [.integer(key)]) else {
                throw ObjectError(.notFound, "\(metadata.attributes[index].name) of \(metadata.name) \(key): there is no such row any more")
            }
            return row[0].integer
        }
    }

    /// Sets the value, or NULL, and makes the object dirty. `update`, `save` or `submitPending` then writes the value to the row. A value that was set
    /// inside of a transaction which is rolled back was written in it, and is gone: the object has what it had before.
    /// - Throws: ``ObjectError/Code/invalidValue`` for NULL in an attribute that is not nullable.
    public final func setLargeValue(_ value: LargeValue?, ofAttribute index: Int) throws {
        let attribute = metadata.attributes[index]
        guard value != nil || attribute.isNullable else {
            throw ObjectError(.invalidValue, "\(metadata.name).\(attribute.name): it needs a value; write another one in place of removing it")
        }
        if let value { undoOnRollback(value, index) }
        attached.unsavedLargeValues.updateValue(value, forKey: index)
    }

    private final func undoOnRollback(_ value: LargeValue, _ index: Int) {
        guard let running = TransactionScope.transaction(of: package) else { return }
        let before = attachments?.unsavedLargeValues[index]
        running.onRollback { [self] in
            // There is nothing left to remove.
            value.note(isSaved: true)
            // The undo of a save in the transaction has made the value unsaved again. A value that was set after a nested transaction stays.
            guard let unsaved = attachments?.unsavedLargeValues[index], unsaved === value else { return }
            attachments?.unsavedLargeValues[index] = before
        }
    }
}
