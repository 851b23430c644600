internal import Bytes
internal import Foundation
internal import Identity
internal import Kademlia

// Nodes that connect and disconnect as those of IPFS do: half of the periods of connection last at most two hours, four
// fifths at most eight (a Weibull distribution through these two points).
extension Swarm {
    private func period() -> Duration {
        let share = Double.random(in: 0.0001..<1, using: &self.random)
        return .seconds(3.656 * 3600 * pow(-log(share), 1 / 0.6077))
    }

    /// Lets every running node leave after its period; as many as left start, half of them with their old ids and disks.
    func beginChurn(crashShare: Double = 0.5) {
        for node in self.running { self.planDeparture(of: node, crashShare) }
    }

    private func planDeparture(of node: Int, _ crashShare: Double) {
        let life = self.nodes[node].life
        self.later(self.period()) { swarm in
            guard swarm.nodes[node].isUp, swarm.nodes[node].life == life else { return }
            swarm.stop(node, isCrash: swarm.random.decide(crashShare))
            let returns = swarm.random.decide(0.5)
            if !returns { swarm.nodes[node].disk = [:] }
            if !returns { swarm.later(.seconds(60)) { $0.replace(crashShare) } }
            // While one is away another one runs, so that the number stays.
            if returns {
                swarm.later(.seconds(600 + Double.random(in: 0..<7200, using: &swarm.random))) { swarm in
                    swarm.start(node, knowing: swarm.someRunning())
                    swarm.planDeparture(of: node, crashShare)
                }
            }
        }
    }

    private func replace(_ crashShare: Double) {
        guard let node = try? self.add() else { return }  // fake keys never fail
        self.start(node, knowing: self.someRunning())
        self.planDeparture(of: node, crashShare)
    }

    func someRunning() -> [Int] {
        let running = self.running
        return (0..<min(3, running.count)).compactMap { _ in running.randomElement(using: &self.random) }
    }
}
