#if canImport(Darwin)
public import AVFoundation
internal import Concurrency
internal import CoreVideo
internal import Dispatch
internal import QRCode

/// The device's camera, whose frames go to a scanner.
///
/// The application must describe its use of the camera in `Info.plist` (`NSCameraUsageDescription`). A capture session is
/// not `Sendable`; this one is configured, started and stopped on one queue, hence `@unchecked Sendable`.
public final class QRCodeCamera: @unchecked Sendable {
    /// Why there are no frames.
    public enum Problem: Error, Sendable {
        /// There is no camera, or another application holds it.
        case noCamera
        /// The person did not allow it.
        case denied
    }

    private let session = AVCaptureSession()
    /// The queue of the session, on which the frames arrive too.
    private let queue = DispatchQueue(label: "runar.camera")
    private let receiver: FrameReceiver

    /// A camera for a scanner, stopped until ``start()``.
    public init(scanner: QRCodeScanner) {
        receiver = FrameReceiver(scanner)
    }

    /// Asks for permission if need be, and films until ``stop()``; after that it can be started again.
    ///
    /// - Throws: ``Problem``.
    public func start() async throws {
        guard await AVCaptureDevice.requestAccess(for: .video) else { throw Problem.denied }
        let running = Promise<Result<Void, any Error>>()
        queue.async { running.fulfil(Result { try self.run() }) }
        try await running.waitIgnoringCancellation().get()
    }

    /// Films no more.
    public func stop() {
        queue.async { self.session.stopRunning() }
    }

    /// Returns a layer with the camera's image; set its frame to the bounds of the view that contains it.
    @MainActor public func makePreview() -> AVCaptureVideoPreviewLayer {
        let layer = AVCaptureVideoPreviewLayer(session: session)
        layer.videoGravity = .resizeAspectFill
        return layer
    }

    private func run() throws {
        // A session takes one input of a camera and keeps it over a stop.
        if session.inputs.isEmpty { try configure() }
        session.startRunning()
    }

    private func configure() throws {
        guard let device = AVCaptureDevice.default(for: .video),
            let input = try? AVCaptureDeviceInput(device: device),  // fails when another application holds it
            session.canAddInput(input)
        else { throw Problem.noCamera }
        let output = AVCaptureVideoDataOutput()
        output.alwaysDiscardsLateVideoFrames = true
        output.videoSettings = [
            kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
        ]
        output.setSampleBufferDelegate(receiver, queue: queue)
        guard session.canAddOutput(output) else { throw Problem.noCamera }
        session.beginConfiguration()
        defer { session.commitConfiguration() }
        if session.canSetSessionPreset(.hd1280x720) { session.sessionPreset = .hd1280x720 }
        session.addInput(input)
        session.addOutput(output)
    }
}

/// Takes the brightness of each frame to the scanner.
private final class FrameReceiver: NSObject, AVCaptureVideoDataOutputSampleBufferDelegate {
    private let scanner: QRCodeScanner

    init(_ scanner: QRCodeScanner) {
        self.scanner = scanner
    }

    func captureOutput(
        _ output: AVCaptureOutput,
        didOutput sampleBuffer: CMSampleBuffer,
        from connection: AVCaptureConnection
    ) {
        guard let buffer = CMSampleBufferGetImageBuffer(sampleBuffer) else { return }
        CVPixelBufferLockBaseAddress(buffer, .readOnly)
        defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
        guard let base = unsafe CVPixelBufferGetBaseAddressOfPlane(buffer, 0) else { return }
        let (width, height) = (CVPixelBufferGetWidthOfPlane(buffer, 0), CVPixelBufferGetHeightOfPlane(buffer, 0))
        let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            unsafe pixels.append(contentsOf: UnsafeRawBufferPointer(start: base + row * stride, count: width))
        }
        let frame = try? GreyImage(width: width, height: height, pixels: pixels)  // only a giant sensor's is refused
        if let frame { scanner.process(frame) }
    }
}
#endif
