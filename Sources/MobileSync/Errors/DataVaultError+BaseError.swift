public import MobileObjects
public import MobileVault

// Here and not in MobileVault: the vault needs no objects, and can be used without them.
extension DataVaultError: BaseError {
    public var recovery: ErrorRecovery {
        switch code {
        case .busy: .retry
        case .damaged: .restart
        default: .removeCause
        }
    }
}
