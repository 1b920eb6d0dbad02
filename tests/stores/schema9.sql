BEGIN TRANSACTION;
CREATE TABLE certificate (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "certificate" VALUES('default','default',1,'{"before":{"cover":[["e2",0,27]],"gate":[-1,-0.005,-1,0],"name":null,"number":0,"parent":null,"pinned":false,"revision":7,"text":"- the violin has a broken bow","total":"aPQDv8LgQ7+kqCW+4hF9vqAE3r4619E+suhFvwBt4D5WsyU+xGojvT65fT0fxB2+9hqRvnj5xj3e+nk+1paYvQ==","written":null},"certificate":{"candidates":[{"answers":["<demem:memory>\n- the violin has a broken bow\n</demem:memory>","<demem:memory>\n- the violin has a broken bow\n</demem:memory>"],"cover":["e2"],"losses":[0.8646446609406726,0.0],"lower":[0.0,0.9323223304703363],"name":"current","revision":7,"scores":[[0.0,0.0],[1.0,1.0]],"slot":0,"upper":[0.0676776695296637,1.0]},{"answers":["<demem:memory>\n- 8 May 2023, Ana: the boiler has a brass valve\n</demem:memory>","<demem:memory>\n- 8 May 2023, Ana: the boiler has a brass valve\n</demem:memory>"],"cover":["e1"],"losses":[0.0,0.8646446609406726],"lower":[0.9323223304703363,0.0],"name":"split first","revision":null,"scores":[[1.0,1.0],[0.0,0.0]],"slot":null,"upper":[1.0,0.0676776695296637]},{"answers":["",""],"cover":["e2"],"losses":[0.8646446609406726,0.0],"lower":[0.0,0.9323223304703363],"name":"split second","revision":null,"scores":[[0.0,0.0],[1.0,1.0]],"slot":null,"upper":[0.0676776695296637,1.0]}],"channels":["reference","reference"],"conditions":"guard band over 2 scorers in one pass, not a probability: holds as far as the true mean score of each answer lies within c_beta*sqrt((dispersion^2 + 0.05^2)/2) + 0.05 of the observed mean, c_beta=0.5; speaks of the listed candidates only","decision":"split","digest":"522325921e8a181057ae9de27d44a1db373cfc494f6239460ee6bd9bbb3366f4","id":"c1","models":["ReadingAnswerer","bag"],"new_slot":1,"pair":["a1","a2"],"parameters":[["c_beta",0.5],["sigma_0",0.05],["eta_cal",0.05]],"pinned":false,"queries":["Which valve has the boiler?","Which bow has the violin?"],"radius":0.8646446609406726,"redacted":true,"regime":"guard band","rivals":[],"saturated":false,"scorers":["scripted","scripted 2"],"seed":null,"slot":0,"threshold":0.1,"undivided":false,"undone":false},"moved":["e2","a2"],"seq":7}');
CREATE TABLE choice (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE context (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER, body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "context" VALUES('default','default',1,0,'{"answer":"<demem:memory>\n# 8 May 2023\n- Ana: the boiler has a brass valve\n</demem:memory>","asker":null,"at":null,"channel":"reference","conditions":[],"credible":true,"id":"a1","kept":["e1"],"known":true,"lead":0,"query":"Which valve has the boiler?","read":[["e1",0,28]],"redacted":false,"reference":"a brass valve","rewards":[1.0],"slot":0,"supports":["e1"],"told":["reference"],"untested":[],"verdicts":[["e1",0,28,6.0]]}',X'4F14503E5B0CECBE671A11BECF6344BEF10053BEF97A9F3E502D31BED53A283E53EA1F3E72DFBB3D5AFEE23C694842BE6A9516BF6EB4A9BD7BFA2CBC81CA873E');
INSERT INTO "context" VALUES('default','default',2,1,'{"answer":"<demem:memory>\n# undated\n- the violin has a broken bow\n</demem:memory>","asker":null,"at":"2023-06-09T00:00:00","channel":"reference","conditions":[],"credible":true,"id":"a2","kept":["e2"],"known":true,"lead":0,"query":"Which bow has the violin?","read":[["e2",0,27]],"redacted":false,"reference":"a broken bow","rewards":[1.0],"slot":1,"supports":["e2"],"told":["reference"],"untested":[],"verdicts":[["e2",0,27,6.0]]}',X'63118ABED10450BE7A225E3E0E0BC9BE86F728BE080C683E552BAABE717DA13E9A60BF3EA5ACE5BE641A44BD761ACCBDB1D4383E31FD8EBCF89C453DE2AAB5BD');
CREATE TABLE cover (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, slot INTEGER NOT NULL, place INTEGER NOT NULL,
    evidence INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, slot, place));
INSERT INTO "cover" VALUES('default','default',1,0,2,0,27);
INSERT INTO "cover" VALUES('ana','other',0,0,1,0,27);
CREATE TABLE erasure (owed INTEGER NOT NULL, era INTEGER NOT NULL DEFAULT 0);
INSERT INTO "erasure" VALUES(0,0);
CREATE TABLE evidence (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER NOT NULL, text BLOB NOT NULL, speaker BLOB, at TEXT, session BLOB, source BLOB,
    source_id BLOB, trust REAL NOT NULL, spans TEXT NOT NULL, vectors BLOB NOT NULL, metadata TEXT, made_from TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "evidence" VALUES('default','default',1,0,X'74686520626F696C65722068617320612062726173732076616C7665',X'416E61','2023-05-08T10:00:00+02:00',NULL,NULL,X'7831',1.0,'[[0,28]]',X'A06FDD3CFF6C3EBE0E7AFDBC975969BDE567D6BE2160033F47EE2ABE5512653D9860303EE5AA9C3B71B021BE203B82BE2EF4F6BE23E932BE408CA13BEB75A83E',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',2,1,X'7468652076696F6C696E2068617320612062726F6B656E20626F77',NULL,NULL,X'73',X'63686174',NULL,0.5,'[[0,27]]',X'DB23EFBE474EB2BEB9F2D53E5BA56CBE4EA6CA3DDBF2923EE8AC23BEAC76E53EB1F2083E5C1864BEEA7A113D68B34CBD65A48A3DF4CB383CFD04C43D62E62DBE',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',4,1,X'7468652046C3A4687265206C6561766573206174206E696E652000207368617270',X'5A6FC3AB','2024-05-08T13:56:00',NULL,NULL,NULL,1.0,'[[0,32]]',X'2943053D792923BE53A0403E99E96B3E5E873DBEC94A2FBECCB69FBEEE80303EC63119BE8C75F5BE5E2BEF3DBAF7B5BB6606343D760C96BE83AAF0BE0B42B1BE','{"a":1}','[]');
INSERT INTO "evidence" VALUES('ana','other',1,0,X'7468652076696F6C696E2068617320612062726F6B656E20626F77',NULL,NULL,NULL,NULL,NULL,1.0,'[[0,27]]',X'DB23EFBE474EB2BEB9F2D53E5BA56CBE4EA6CA3DDBF2923EE8AC23BEAC76E53EB1F2083E5C1864BEEA7A113D68B34CBD65A48A3DF4CB383CFD04C43D62E62DBE',NULL,'[]');
CREATE TABLE mark (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    kept INTEGER NOT NULL, hidden INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "mark" VALUES('default','default',1,0,1);
CREATE TABLE memory (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, settings TEXT NOT NULL,
    seq INTEGER NOT NULL, evidence INTEGER NOT NULL, forgotten INTEGER NOT NULL,
    contexts INTEGER NOT NULL, certificates INTEGER NOT NULL, encoder TEXT NOT NULL,
    encoder_fingerprint TEXT NOT NULL, dimensions INTEGER NOT NULL, successions INTEGER NOT NULL DEFAULT 0, situations INTEGER NOT NULL DEFAULT 0, choices INTEGER NOT NULL DEFAULT 0, noted INTEGER NOT NULL DEFAULT 0, era INTEGER NOT NULL DEFAULT 0, made TEXT, changed TEXT,
    PRIMARY KEY (tenant, memory_id));
INSERT INTO "memory" VALUES('default','default','{"decide":{"budget":null,"chance":0.0,"delta":0.05,"noise":0.5,"steady":true,"tolerance":0.2},"decisions":true,"floor":0.0015,"initial_slots":1,"keep_days":null,"known_from":null,"mode":"evidence","most_items":null,"near":0.9,"order":"time","read_limit":90,"slot_limit":70,"slots":3,"split":{"c_beta":0.5,"counterfactuals":24,"delta":0.05,"eta_cal":0.05,"pairs":2,"sharing":0,"sigma_0":0.05,"tau_sat":0.3,"tau_split":0.1},"stale":"mark","storage":null,"tenant_items":null,"unit":"chars","unknown":"show","when_full":"worth"}',10,4,1,2,1,'bag','bag-16',16,0,0,0,0,0,'2026-11-26T11:46:11+00:00','2026-11-26T11:46:14+00:00');
INSERT INTO "memory" VALUES('ana','other','{"decide":{"budget":null,"chance":0.0,"delta":0.05,"noise":0.5,"steady":true,"tolerance":0.2},"decisions":true,"floor":0.0015,"initial_slots":1,"keep_days":null,"known_from":null,"mode":"evidence","most_items":null,"near":0.9,"order":"time","read_limit":90,"slot_limit":70,"slots":3,"split":{"c_beta":0.5,"counterfactuals":24,"delta":0.05,"eta_cal":0.05,"pairs":2,"sharing":0,"sigma_0":0.05,"tau_sat":0.3,"tau_split":0.1},"stale":"mark","storage":null,"tenant_items":null,"unit":"chars","unknown":"show","when_full":"worth"}',1,1,0,0,0,'bag','bag-16',16,0,0,0,0,0,'2026-11-26T11:46:14+00:00','2026-11-26T11:46:14+00:00');
CREATE TABLE op (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, op_key BLOB, request TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, seq));
INSERT INTO "op" VALUES('default','default',1,'ingest',X'6B','4c8b2888d035a1689b346cf5a0f7f0ea298092f3ab9177245e179325dae2bbfb','{"evidence_id": "e1", "opened": true, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',2,'ingest',NULL,'','');
INSERT INTO "op" VALUES('default','default',3,'ingest',NULL,'','');
INSERT INTO "op" VALUES('default','default',4,'answer',NULL,'','');
INSERT INTO "op" VALUES('default','default',5,'feedback',NULL,'','');
INSERT INTO "op" VALUES('default','default',6,'answer',NULL,'','');
INSERT INTO "op" VALUES('default','default',7,'feedback',NULL,'','');
INSERT INTO "op" VALUES('default','default',8,'forget',NULL,'','');
INSERT INTO "op" VALUES('default','default',9,'ingest',X'6B31','4809b93f09e7b3e9f69bec596aeb7359416811e9c3ffd279d9735b55e06cdfa9','{"evidence_id": "e4", "opened": false, "skipped": false, "slot": 1}');
INSERT INTO "op" VALUES('default','default',10,'hide',NULL,'','');
INSERT INTO "op" VALUES('ana','other',1,'ingest',NULL,'','');
CREATE TABLE situation (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE slot (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    parent INTEGER, revision INTEGER NOT NULL, total BLOB NOT NULL, summary BLOB NOT NULL,
    gate TEXT, name BLOB, pinned INTEGER NOT NULL DEFAULT 0, written TEXT,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "slot" VALUES('default','default',1,0,9,X'767BDEBE82F101BF71211B3F00C23BBA6E68B0BDDA35ED3D408DF1BE92DB1E3FA8F881BCDDC033BF6AF41B3E5F7263BD98A7E43D164690BE44A9BFBE9E1A04BF',X'2D207468652076696F6C696E2068617320612062726F6B656E20626F77','[0,-0.7131471805599453,-4,0]',NULL,0,NULL);
INSERT INTO "slot" VALUES('default','default',0,NULL,10,X'A06FDD3CFF6C3EBE0E7AFDBC975969BDE567D6BE2160033F47EE2ABE5512653D9860303EE5AA9C3B71B021BE203B82BE2EF4F6BE23E932BE408CA13BEB75A83E',X'',NULL,NULL,0,NULL);
INSERT INTO "slot" VALUES('ana','other',0,NULL,1,X'DB23EFBE474EB2BEB9F2D53E5BA56CBE4EA6CA3DDBF2923EE8AC23BEAC76E53EB1F2083E5C1864BEEA7A113D68B34CBD65A48A3DF4CB383CFD04C43D62E62DBE',X'2D207468652076696F6C696E2068617320612062726F6B656E20626F77',NULL,NULL,0,NULL);
CREATE TABLE succession (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE UNIQUE INDEX op_by_key ON op (tenant, memory_id, op_key);
COMMIT;
PRAGMA user_version = 9;
PRAGMA application_id = 1147489637;
