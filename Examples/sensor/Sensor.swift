import Foundation
import RunarNode

/// A sensor that streams its readings to dashboards on other devices, as fast as each of them reads.
///
///     sensor measure                 on the device with the sensor; it prints an invitation
///     sensor show INVITATION [N]     on a device with a screen: a line for each reading, N at most
@main
struct Sensor {
    /// A reading on the wire.
    struct Reading: Codable, Sendable {
        var celsius: Double
        var at: Date
    }

    /// The request of a dashboard.
    struct ReadingRequest: Codable, Sendable {
        var everyMilliseconds: Int
    }

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "measure": try await measure()
        case "show" where arguments.count >= 2:
            try await show(arguments[1], count: arguments.dropFirst(2).first.flatMap { Int($0) })
        default: print("usage: sensor measure | sensor show INVITATION [N]")
        }
    }

    /// Serves readings until the program is ended.
    static func measure() async throws {
        let node = try makeNode("measure")
        try await node.start()
        let network = try node.networks().first?.networkId ?? node.createNetwork(name: "Sensors").networkId
        let service = RunarService(name: "Climate", path: "climate", version: "1.0.0", description: "Temperatures")
        service.registerStream("readings") { (request: ReadingRequest?, writer: RunarStreamWriter<Reading>) in
            let pause = Duration.milliseconds(max(10, request?.everyMilliseconds ?? 1_000))
            while true {
                // Waits while the dashboard is slow, and ends when it disconnects.
                try await writer.send(Reading(celsius: temperature(), at: Date()))
                try await Task.sleep(for: pause)
            }
        }
        try await node.addService(service)
        say("invitation: \(try node.invite(to: network, isPreallowed: true).link)")
        while !Task.isCancelled { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// Shows readings of whichever device serves them.
    static func show(_ invitation: String, count: Int?) async throws {
        let node = try makeNode("show")
        try await node.start()
        try await node.join(by: Invitation(text: invitation))
        var shown = 0
        while count.map({ shown < $0 }) ?? true {
            do {
                let readings: RunarStream<Reading> = try await node.stream(
                    "climate/readings",
                    payload: ReadingRequest(everyMilliseconds: 100)
                )
                for try await reading in readings {
                    say("\(reading.at.formatted(.iso8601)) \(reading.celsius) °C")
                    shown += 1
                    if shown == count { break }
                }
            } catch let error as RunarError {
                say("no readings: \(error.message)")
                try await Task.sleep(for: .seconds(1))
            }
        }
        await node.stop()
    }

    /// The processor's temperature if the system reports it, and otherwise one of a day in spring.
    static func temperature() -> Double {
        let file = "/sys/class/thermal/thermal_zone0/temp"
        let text = try? String(contentsOfFile: file, encoding: .utf8)  // not every machine has it
        let measured = text.flatMap { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        return measured.map { $0 / 1_000 } ?? Double.random(in: 12...18)
    }

    /// This device's node.
    static func makeNode(_ name: String) throws -> RunarNode {
        let config = RunarNodeConfig(nodeId: name, defaultNetworkId: "Sensors")
        config.homePath = FileManager.default.currentDirectoryPath + "/sensor-\(name)"
        config.logLevel = .error
        return try RunarNode(config: config)
    }

    /// Prints a line at once, even into a pipe.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
