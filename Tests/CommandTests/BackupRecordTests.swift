internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService

@Suite("Records of a backup") struct BackupRecordTests {
    @Test func `damaged records are refused and never crash`() throws {
        let id = String(repeating: "A", count: 43) + "="
        let member = BackupRecords.Member(peerId: id, expiration: 9, issuedAt: 1, label: "phone", renewable: true)
        let records = BackupRecords(
            peerId: id,
            createdAt: 1,
            networks: [BackupRecords.Network(networkId: id, members: [member], revocations: [id])],
            settings: ["discovery": ["off"]]
        )
        let bytes = Array(JSONText.encode(records).utf8)
        #expect(try BackupFile.records(of: bytes) == records)
        neverCrash(on: [bytes], rounds: 500) { _ = try BackupFile.records(of: $0) }
    }
}
