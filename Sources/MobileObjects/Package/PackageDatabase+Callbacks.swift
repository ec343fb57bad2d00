import MobileExecution

extension PackageDatabase {
    /// Registers `handler` for all events of this package, in addition to those that are registered already.
    public final func registerCallbackHandler(_ handler: any CallbackHandler) {
        state.withLock { $0.handlers.append(handler) }
    }

    /// Registers `handler` for the events of one object.
    public final func registerCallbackHandler(_ handler: any CallbackHandler, for entity: EntityMetadata) {
        state.withLock { $0.entityHandlers[entity.index, default: []].append(handler) }
    }

    /// The handlers of the database.
    package final var callbackHandlers: [any CallbackHandler] { state.withLock { $0.handlers } }

    /// Calls the handlers of the database.
    package final func notify(_ call: (any CallbackHandler) -> Void) {
        for handler in callbackHandlers { call(handler) }
    }

    /// Calls the handlers of an object and those of the database: after a replay the object's come first, after an import last.
    package final func notify(_ entity: EntityMetadata, entityFirst: Bool, _ call: (any CallbackHandler) -> Void) {
        let (handlers, entityHandlers) = state.withLock { ($0.handlers, $0.entityHandlers[entity.index] ?? []) }
        for handler in entityFirst ? entityHandlers + handlers : handlers + entityHandlers { call(handler) }
    }

    /// Whether an event of `entity` has a handler.
    final func hasHandlers(for entity: EntityMetadata) -> Bool {
        state.withLock { !$0.handlers.isEmpty || $0.entityHandlers[entity.index]?.isEmpty == false }
    }
}
