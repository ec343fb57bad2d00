// An application that imports MobileObjects opens databases and reads rows: ConnectionProfile, Row and StoreError belong to its vocabulary.
@_exported public import MobileStore
