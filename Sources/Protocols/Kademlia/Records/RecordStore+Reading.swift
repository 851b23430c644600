internal import Identity

extension RecordStore {
    /// Returns the unexpired records at a location that a peer selected, the newest first, as they fit into one message.
    ///
    /// Values above the peer's inline limit are left out.
    func found(
        at location: Bytes32,
        _ selection: Message.Selection,
        inlineLimit: Int,
        at nowSeconds: UInt64
    ) -> [Message.Found] {
        let records = stored(at: location).compactMap(\.record)
            .filter { !UnixTime.isPast($0.expirySeconds, at: nowSeconds) }
            .sorted { $0.revision > $1.revision }
        let selected: [Record]
        switch selection {
        case .newest:
            // The newest live record, then the tombstones that are newer: other replicas may lack these deletions. The live
            // record is first, so that no number of tombstones displaces it.
            let live = records.firstIndex { !$0.isTombstone } ?? records.count
            selected = Array(records[live...].prefix(1)) + records[..<live]
        case .all: selected = records
        case .one(let writer): selected = records.filter { $0.writer == writer }
        }
        var room = Message.recordBytesLimit
        var found: [Message.Found] = []
        for record in selected.prefix(Message.recordLimit) {
            room -= record.head.byteCount
            guard room >= 0 else { break }
            let isShort = record.value.count <= inlineLimit && record.value.count <= room
            if isShort { room -= record.value.count }
            found.append(Message.Found(head: record.head, value: isShort ? record.value : nil))
        }
        return found
    }
}
