internal import CQUICShim
internal import Concurrency
package import Identity
package import Transport

// Channels through relays, and further ports.
extension QUICEndpoint {
    package func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress, from port: UInt16?) {
        loop.submissions.post(.sendForeign(bytes, ru_addr(address.unmapped), port: port))
    }

    package func expectMembers(at addresses: [IPAddress]) {
        loop.submissions.post(.expectMembers(Array(addresses.prefix(AdmissionGate.maximumMembers))))
    }

    package func openPorts(count: Int) async -> [UInt16] {
        let opened = Promise<[UInt16]>()
        guard loop.submissions.post(.openPorts(count, opened)) else { return [] }
        return (try? await opened.wait()) ?? []  // a cancelled caller uses none
    }

    package func closePorts(_ ports: [UInt16]) {
        loop.submissions.post(.closePorts(ports))
    }

    package func openChannel(_ channel: ChannelId, over relay: any Connection) {
        guard let relay = relay as? QUICConnection else { return }
        loop.submissions.post(.openChannel(channel, relay.core))
    }

    package func closeChannel(_ channel: ChannelId) {
        loop.submissions.post(.closeChannel(channel))
    }

    package func relay(_ first: RelayEnd, _ second: RelayEnd, bytesPerSecond: Int) {
        guard let from = first.connection as? QUICConnection, let to = second.connection as? QUICConnection else {
            return
        }
        let budget = RelayBudget(bytesPerSecond: bytesPerSecond)
        let forth = RelayLeg(
            from: from.core,
            channel: first.channel,
            to: to.core,
            onward: second.channel,
            budget: budget
        )
        let back = RelayLeg(
            from: to.core,
            channel: second.channel,
            to: from.core,
            onward: first.channel,
            budget: budget
        )
        loop.submissions.post(.relay(forth, back))
    }

    package func stopRelaying(_ channel: ChannelId) {
        loop.submissions.post(.stopRelaying(channel))
    }
}
