internal import Identity

/// The channels through relays: those that this endpoint uses, and those that it forwards for others.
struct RelayChannels {
    /// The relays of our channels.
    private(set) var channels: [ChannelId: ConnectionCore] = [:]
    /// The relayed directions, by the channel of their datagrams.
    private(set) var legs: [ChannelId: RelayLeg] = [:]

    /// Opens a channel of ours.
    mutating func open(_ channel: ChannelId, over relay: ConnectionCore) {
        channels[channel] = relay
    }

    /// Closes a channel of ours.
    mutating func close(_ channel: ChannelId) {
        channels[channel] = nil
    }

    /// Begins to forward between two peers, and ends earlier relays of either channel.
    mutating func forward(_ forth: RelayLeg, _ back: RelayLeg) {
        stopForwarding(forth.channel)
        stopForwarding(back.channel)
        legs[forth.channel] = forth
        legs[back.channel] = back
    }

    /// Stops forwarding in both directions, of which `channel` names one.
    mutating func stopForwarding(_ channel: ChannelId) {
        if let leg = legs.removeValue(forKey: channel) { legs[leg.onward] = nil }
    }

    /// Removes the channels that led over a connection.
    mutating func remove(over core: ConnectionCore) {
        if !channels.isEmpty { channels = channels.filter { $0.value !== core } }
        if !legs.isEmpty { legs = legs.filter { $0.value.from !== core && $0.value.to !== core } }
    }
}
