internal import Identity

// The records of services in the network's hash table, for requesters without a connection to a provider.
//
// Each provider writes its own record under the service's key, so that several do not overwrite each other. A record names a
// provider; the actions of the service, and whether it runs, are announced on connecting.
extension Services {
    /// The label with which the key of a service's records begins.
    private static let recordLabel = DomainLabel("runar/service-provider/v1")
    /// The value of such a record.
    package static let recordValue: [UInt8] = [1]

    /// The key under which the providers of a service write their records.
    package static func recordKey(of service: some StringProtocol) -> [UInt8] {
        recordLabel.message(Array(service.utf8))
    }

    /// Whether a key of the hash table belongs to the records of a service, so that an application never wrote it.
    package static func isRecordKey(_ key: [UInt8]) -> Bool { key.starts(with: recordLabel.prefix) }
}
