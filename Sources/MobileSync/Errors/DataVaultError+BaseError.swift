public import MobileObjects
public import MobileVault

// Here and not in MobileVault, because the vault can be used without MobileObjects.
extension DataVaultError: BaseError {
    public var recovery: ErrorRecovery {
        switch code {
        case .busy: .retry
        case .damaged: .restart
        default: .removeCause
        }
    }
}
