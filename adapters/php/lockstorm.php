<?php
// What adapters of lockstorm in PHP share: the pipes, the clock, and what is known of an error.
//
// An adapter is an object with about() and open($request), attempt($request), release($hold), and perhaps extend($hold) and ask($hold).
// attempt returns [hold, fields of the grant]. An exception is of unknown outcome, unless it is a Definite. PHP has one thread:
// requests are carried out one after the other. The protocol is docs/adapters.md.

class Definite extends Exception
{
    public function __construct(public readonly string $answer, string $message = '')
    {
        parent::__construct($message);
    }
}

function now(): string
{
    return (string) hrtime(true);
}

// need loads a library that Debian has for PHP, or says how to get it.
function need(string $file, string $package): void
{
    if (stream_resolve_include_path($file) === false) {
        fwrite(STDERR, "$file is missing: apt-get install $package\n");
        exit(69);
    }
    require_once $file;
}

final class Program
{
    private $in;
    private $out;
    private array $holds = [];

    public function __construct(private object $adapter)
    {
        $this->in = fopen('php://fd/' . getenv('LOCKSTORM_IN'), 'r');
        $this->out = fopen('php://fd/' . getenv('LOCKSTORM_OUT'), 'w');
    }

    private int $numbers = 0;

    private function say(array $line): void
    {
        fwrite($this->out, json_encode($line, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE) . "\n");
        fflush($this->out);
    }

    // point stops at a point of the lock's own protocol until lockstorm says go.
    public function point(int $attempt, string $name): void
    {
        $n = ++$this->numbers;
        $this->say(['notice' => 'point', 'hold' => $attempt, 'n' => $n, 'name' => $name]);
        while (($text = fgets($this->in)) !== false) {
            $request = json_decode($text, true);
            if ($request['op'] === 'go' && $request['n'] === $n) {
                return;
            }
            if ($request['op'] !== 'cancel') { // nothing else is asked while an attempt is under way, but for a ping
                $this->answer($request);
            }
        }
        exit;
    }

    public function serve(): never
    {
        while (($text = fgets($this->in)) !== false) {
            $request = json_decode($text, true);
            if ($request['op'] !== 'cancel') {
                $this->answer($request);
            }
        }
        posix_kill(posix_getpid(), 9); // what is held is not released by anybody's destructor
        exit;
    }

    private function answer(array $request): void
    {
        try {
            $more = $this->call($request);
        } catch (Definite $e) {
            $more = ['answer' => $e->answer, 'message' => $e->getMessage()];
        } catch (Throwable $e) {
            fwrite(STDERR, $e . "\n");
            $more = ['answer' => 'error', 'message' => get_class($e) . ': ' . $e->getMessage() . ($e->getPrevious() ? ': ' . $e->getPrevious()->getMessage() : '')];
        }
        $this->say(['id' => $request['id']] + $more + ['answer' => 'ok']);
    }

    private function call(array $request): array
    {
        $hold = $this->holds[$request['hold'] ?? 0] ?? null;
        switch ($request['op']) {
            case 'hello':
                return ['about' => $this->adapter->about()];
            case 'ping':
                return ['now' => now()];
            case 'open':
                $this->adapter->open($request);
                return [];
            case 'try':
                [$this->holds[$request['id']], $more] = $this->adapter->attempt($request, $this);
                return ['answer' => 'granted'] + $more;
            case 'release':
                $this->adapter->release($hold);
                return [];
            case 'extend':
                return method_exists($this->adapter, 'extend') ? $this->adapter->extend($hold) : ['answer' => 'unsupported'];
            case 'ask':
                return method_exists($this->adapter, 'ask') ? ['held' => $this->adapter->ask($hold)] : ['answer' => 'unsupported'];
        }
        return ['answer' => 'unsupported'];
    }
}
