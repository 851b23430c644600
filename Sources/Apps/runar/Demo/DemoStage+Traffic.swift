internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

// Messages, an event, a request, a file and a stored value.
extension DemoStage {
    private static let fileByteCount = 64 << 20

    func messageToPhone() async throws -> String {
        try await message("hello from the laptop", from: owner, to: phone)
    }

    func messageBack() async throws -> String {
        try await message("hello from the phone", from: phone, to: owner)
    }

    private func message(_ text: String, from sender: DemoDevice, to receiver: DemoDevice) async throws -> String {
        let position = receiver.listener.position
        let _: SentReport = try await sender.run(["send", try fact("\(receiver.name) id"), text])
        try await expect(text, from: sender, at: receiver, after: position)
        return "the \(receiver.name)'s listener printed \"\(text)\""
    }

    private func expect(
        _ text: String,
        from sender: DemoDevice,
        at receiver: DemoDevice,
        after position: Int
    ) async throws {
        let id = try fact("\(sender.name) id")
        _ = try await receiver.listener.first("the message \"\(text)\"", after: position) {
            $0.event == "message" && $0.peerId == id && $0.text == text ? true : nil
        }
    }

    func broadcast() async throws -> String {
        let text = "to all"
        let receivers = [phone, server]
        let positions = receivers.map(\.listener.position)
        let _: SentReport = try await owner.run(["send", "--all", text])
        for (receiver, position) in zip(receivers, positions) {
            try await expect(text, from: owner, at: receiver, after: position)
        }
        return "both listeners printed it"
    }

    /// Publishes two events; every member subscribed to `home/>` must get the one in it, and not the other.
    func publishToAll() async throws -> String {
        let id = try fact("phone id")
        for (topic, text) in [("garden/gate", "closed"), ("home/door", "open")] {
            let _: PublishedReport = try await phone.run(["publish", topic, text])
        }
        for device in members {
            let event = try await device.subscriber.first("the event") { $0.event == "published" ? $0 : nil }
            guard event.topic == "home/door", event.text == "open", event.peerId == id else {
                throw CommandFailure("demo", .software, "the \(device.name) printed another event first: \(event)")
            }
        }
        return "the phone published home/door \"open\"; all three printed it, and none of its other events"
    }

    /// Calls the server's thermometer from two members, one of which must get the failure of an action.
    func callService() async throws -> String {
        _ = try await server.service.first("the service") { $0.event == "serving" ? true : nil }
        let degrees: CalledReport = try await owner.run(["call", "thermometer/read"])
        guard degrees.result?.doubleValue == 21.5 else {
            throw CommandFailure("demo", .software, "the thermometer answered \(degrees.text ?? "nothing")")
        }
        let echo: CalledReport = try await phone.run(["call", "thermometer/where", "\"kitchen\""])
        guard echo.result?.stringValue == "kitchen" else {
            throw CommandFailure("demo", .software, "the thermometer got \(echo.text ?? "nothing")")
        }
        do {
            let _: CalledReport = try await phone.run(["call", "thermometer/burn"])
        } catch let failure as CommandFailure where failure.code == "handler-failed" {
            return "the server's thermometer says 21.5 to the laptop, and to the phone that it cannot burn"
        }
        throw CommandFailure("demo", .software, "a request that fails was answered")
    }

    func sendFile() async throws -> String {
        let path = FilePath.joining(folder, "holiday.bin")
        let content = Self.noise(count: Self.fileByteCount)
        try content.write(to: URL(fileURLWithPath: path))
        let position = phone.listener.position
        let report: FileSentReport = try await owner.run(["send", try fact("phone id"), "--file", path])
        let arrived = try await phone.listener.first("the file", after: position) {
            $0.event == "file" ? $0.path : nil
        }
        guard try Data(contentsOf: URL(fileURLWithPath: arrived)) == content else {
            throw CommandFailure("demo", .software, "the phone has other bytes than the laptop sent")
        }
        let speed = Double(Self.fileByteCount) / (Double(max(report.milliseconds, 1)) / 1000)
        return
            "the phone has the same bytes; sent, checked and stored in \(report.milliseconds) ms (\(ByteCountText.text(of: speed))/s)"
    }

    func putAndGet() async throws -> String {
        let stored: PutReport = try await phone.run(["put", "door/code", "4711"])
        guard stored.holders > 0 else { throw CommandFailure("demo", .software, "no other member has the value") }
        note("version", String(stored.version))
        try await expect("4711", under: "door/code", on: server)
        return "the server prints \"4711\"; \(PutReport.members(stored.holders)) hold it for the phone"
    }

    /// Two devices change the same version: only the first may.
    func refuseStaleUpdate() async throws -> String {
        let condition = ["--if-version", try fact("version")]
        let _: PutReport = try await owner.run(["put", "door/code", "4712"] + condition)
        do {
            let _: PutReport = try await phone.run(["put", "door/code", "4713"] + condition)
        } catch let failure as CommandFailure where failure.code == "conflict" {
            try await expect("4712", under: "door/code", on: server)
            return "the phone's update is refused, and the server prints the laptop's \"4712\""
        }
        throw CommandFailure("demo", .software, "the phone overwrote the newer value of the laptop")
    }

    private func expect(_ value: String, under key: String, on device: DemoDevice) async throws {
        let printed = try await device.output(of: ["get", key, "--no-cache"])
        guard printed == value + "\n" else {
            throw CommandFailure("demo", .software, "the \(device.name) prints \"\(printed)\" instead of \"\(value)\"")
        }
    }

    /// Bytes without a pattern that anything could shorten (xorshift64).
    private static func noise(count: Int) -> Data {
        var state = UInt64.random(in: 1 ... .max)
        let words = (0..<count / 8).map { _ -> UInt64 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        return unsafe words.withUnsafeBytes { unsafe Data($0) }
    }
}
