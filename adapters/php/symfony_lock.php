#!/usr/bin/env php
<?php
// Symfony's Lock as an adapter of lockstorm: createLock, acquire, refresh and release, over the store that the argument names.
//
//   redis  RedisStore with phpredis
//   flock  FlockStore
//
// Run it with: lockstorm run --backend exec:cmd=adapters/php/symfony_lock.php --nemesis client-pause -- redis
require __DIR__ . '/lockstorm.php';

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\LockInterface;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\RedisStore;

need('Symfony/Component/Lock/autoload.php', 'php-symfony-lock');

// Watched is a store with a point behind its first request: Lock::acquire saves the key, and sets the time to live with a second
// request.
final class Watched implements PersistingStoreInterface
{
    public ?Closure $saved = null;

    public function __construct(private PersistingStoreInterface $store)
    {
    }

    public function save(Key $key)
    {
        $this->store->save($key);
        ($this->saved)();
    }

    public function putOffExpiration(Key $key, float $ttl)
    {
        $this->store->putOffExpiration($key, $ttl);
    }

    public function delete(Key $key)
    {
        $this->store->delete($key);
    }

    public function exists(Key $key): bool
    {
        return $this->store->exists($key);
    }
}

// Held is a lock that was acquired.
final class Held
{
    public bool $released = false;
    public bool $refused = false; // an extension was: the library then takes the lock for one that has its whole time to live again

    public function __construct(public readonly LockInterface $lock)
    {
    }
}

final class Symfony
{
    private array $request;
    private float $ttl;
    private ?Watched $store = null;

    public function __construct(private string $kind)
    {
    }

    public function about(): array
    {
        $redis = $this->kind === 'redis';
        $about = [
            'protocol' => 1, 'name' => 'symfony_lock.php', 'version' => '1', 'doc' => 'Lock of Symfony, ' . ($redis ? 'RedisStore with phpredis' : 'FlockStore'),
            'library' => 'symfony/lock ' . packageVersion('php-symfony-lock', 'Symfony/Component/Lock/autoload.php'), 'clock' => 'monotonic', 'no_try' => false, 'calls' => $redis ? ['extend', 'ask'] : ['ask'],
            'topologies' => $redis ? ['redis-single', 'redis-single-aof'] : ['local'], 'ends' => $redis ? 'lease' : 'process',
            'versions' => ['php' => PHP_VERSION] + ($redis ? ['phpredis' => phpversion('redis')] : []),
            'notes' => $redis ? 'The first request takes the lock for 300 s, the default of RedisStore. A second request sets the time to live that the user gave to createLock.' : '',
        ];
        return $about + ($redis ? ['keys' => ['lockstorm:{run}:{lock}'], 'points' => [['name' => 'saved', 'doc' => 'the key of the lock is set with a time to live of 300 s; the time to live that the user chose is not set yet']]] : []);
    }

    public function open(array $request): void
    {
        $this->request = $request;
        $this->ttl = $request['lease_ns'] / 1e9;
        if ($this->kind === 'redis' && !extension_loaded('redis')) {
            fwrite(STDERR, "the PHP extension phpredis is missing (Debian: apt-get install php-redis)\n");
            exit(69);
        }
    }

    // store is made anew after an error, as a worker is that is started anew.
    private function store(): Watched
    {
        if ($this->store === null) {
            if ($this->kind === 'redis') {
                $redis = new Redis();
                $node = $this->request['nodes'][0];
                try {
                    $redis->connect($node['host'], $node['port'], $this->request['timeout_ns'] / 1e9, null, 0, $this->request['timeout_ns'] / 1e9);
                } catch (RedisException $e) {
                    throw new Definite('not-sent', $e->getMessage());
                }
                $this->store = new Watched(new RedisStore($redis));
            } else {
                $this->store = new Watched(new FlockStore($this->request['dir']));
            }
        }
        return $this->store;
    }

    public function attempt(array $request, Program $program): array
    {
        $store = $this->store();
        $store->saved = $this->kind === 'redis' ? fn () => $program->point($request['id'], 'saved') : fn () => null;
        $name = $this->kind === 'redis' ? "lockstorm:{$this->request['run']}:{$request['lock']}" : $request['lock'];
        $lock = (new LockFactory($store))->createLock($name, $this->kind === 'redis' ? $this->ttl : null, false);
        $sent = now();
        try {
            if (!$lock->acquire()) {
                throw new Definite('busy');
            }
        } catch (Definite $e) {
            throw $e;
        } catch (Throwable $e) {
            $this->store = null;
            throw $e;
        }
        return [new Held($lock), ['sent' => $sent] + ($this->kind === 'redis' ? ['ttl_ns' => (string) (int) ($this->ttl * 1e9)] : [])];
    }

    // release() of the library does not say whether the lock was held: it returns where it was not, too. So only an answer before the end
    // of the lease is certain.
    public function release(Held $hold): void
    {
        if ($hold->released) {
            throw new Definite('not-held', 'the lock had already been released');
        }
        $this->guarded(fn () => $hold->lock->release());
        $hold->released = true;
        if ($hold->refused || $hold->lock->isExpired()) {
            throw new RuntimeException('unknown outcome: release() returned without an error, but the lock had expired, so another client may have held the lock');
        }
    }

    public function extend(Held $hold): array
    {
        $sent = now();
        try {
            $this->guarded(fn () => $hold->lock->refresh());
        } catch (Throwable $e) {
            $hold->refused = true;
            throw $e;
        }
        $hold->refused = false;
        return ['sent' => $sent, 'ttl_ns' => (string) (int) ($this->ttl * 1e9)];
    }

    public function ask(Held $hold): bool
    {
        return $this->guarded(fn () => $hold->lock->isAcquired());
    }

    private function guarded(Closure $f): mixed
    {
        try {
            return $f();
        } catch (LockConflictedException $e) {
            throw new Definite('not-held', $e->getMessage());
        } catch (Throwable $e) {
            $this->store = null;
            throw $e;
        }
    }
}

(new Program(new Symfony($argv[1] ?? 'redis')))->serve();
